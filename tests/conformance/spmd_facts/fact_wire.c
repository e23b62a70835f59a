#include <string.h>

#include "base/base.h"
#include "facts.h"

static tsr_status set_dtypes(const fact *f, json_t *from, tsr_wire_request *out)
{
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        const char *name = json_string_value(value);
        tsr_dtype dtype;
        if (name != NULL && strcmp(key, "input_dtype") != 0) {
            TSR_TRY(tsr_dtype_parse(f->ctx, name, &dtype));
            TSR_TRY(tsr_wire_request_set(f->ctx, out, key, dtype));
        }
    }
    return TSR_OK;
}

static tsr_status read_wire(const fact *f, tsr_wire_request *out)
{
    json_t *in = fact_input(f, 0);
    *out = (tsr_wire_request){.reduces = json_is_true(json_object_get(in, "reducing")),
                              .in_place = json_is_true(json_object_get(in, "inplace"))};
    TSR_TRY(tsr_dtype_parse(f->ctx, json_string_value(json_object_get(in, "input_dtype")),
                            &out->input));
    return set_dtypes(f, in, out);
}

bool fact_check_wire(const fact *f)
{
    json_t *expect = json_object_get(f->json, "expect");
    tsr_wire_request request;
    tsr_wire_dtypes types;
    tsr_status status = read_wire(f, &request);
    if (status >= 0) {
        status = tsr_wire_resolve(f->ctx, &request, &types);
    }
    if (!json_is_object(expect)) {
        return (fact_wants_error(f) ? status < 0 : status >= 0);
    }
    return status >= 0 &&
           strcmp(json_string_value(json_object_get(expect, "comm_dtype")),
                  tsr_dtype_name(types.wire)) == 0 &&
           strcmp(json_string_value(json_object_get(expect, "result_dtype")),
                  tsr_dtype_name(types.result)) == 0;
}

bool fact_check_backward_wire(const fact *f)
{
    json_t *in = fact_input(f, 0);
    json_t *options = json_object_get(in, "backward_options");
    const bool reduces = json_is_true(json_object_get(in, "backward_reduces")) &&
                         json_is_true(json_object_get(in, "requires_grad"));
    tsr_wire_request request;
    tsr_status status = read_wire(f, &request);
    tsr_wire_request backward = request;
    if (status >= 0) {
        status = set_dtypes(f, options, &backward);
    }
    if (status >= 0) {
        status = tsr_wire_check_backward(f->ctx, &request,
                                         json_is_object(options) ? &backward : NULL, reduces);
    }
    return (fact_wants_error(f) ? status < 0 : status >= 0);
}
