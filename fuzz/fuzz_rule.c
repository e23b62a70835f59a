/* Rules as text: whatever is read is printed and read again the same. */
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_rule *rule = NULL;
    const tsr_rule *again = NULL;
    const char *text = NULL;
    if (tsr_context_create(NULL, &ctx) < 0 || tsr_arena_create(ctx, &arena) < 0) {
        abort();
    }
    tsr_text input = {.name = "fuzz", .data = (const char *)data, .size = size};
    if (tsr_rule_read(ctx, arena, &input, &rule) == TSR_OK) {
        if (tsr_rule_print(ctx, arena, rule, TSR_RULE_FULL, &text) != TSR_OK ||
            tsr_rule_parse(ctx, arena, text, &again) != TSR_OK || !tsr_rule_equal(rule, again)) {
            abort();
        }
    } else if (tsr_context_diagnostics(ctx) == NULL) {
        abort();
    }
    tsr_arena_destroy(arena);
    tsr_context_destroy(ctx);
    return 0;
}
