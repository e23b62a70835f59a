#include "plan/balance.h"

#include "base/base.h"

/* The least that the busiest sender can send. */
static int64_t level(const int64_t *boxes, size_t count, const int64_t *loads, size_t num_senders)
{
    int64_t total = 0;
    int64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        total += boxes[i];
    }
    for (size_t i = 0; i < num_senders; i++) {
        total += loads[i];
        most = max_i64(most, loads[i]);
    }
    return max_i64(most, ceil_div(total, (int64_t)num_senders));
}

/* The first sender from `from` on with room for so much; num_senders when there is none. */
static size_t find_room(const int64_t *room, size_t num_senders, size_t from, int64_t size)
{
    while (from < num_senders && room[from] < size) {
        from++;
    }
    return from;
}

/*
 * Gives each box to a sender with room for it, one share a box; sender num_senders: none had room.
 */
static void place_whole(const int64_t *boxes, size_t count, int64_t *room, size_t num_senders,
                        balance_share *out)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        open = find_room(room, num_senders, open, 1);
        const size_t sender = find_room(room, num_senders, open, boxes[i]);
        out[i] = (balance_share){i, sender, 0, boxes[i]};
        if (sender < num_senders) {
            room[sender] -= boxes[i];
        }
    }
}

/* How many shares a cut box takes when it fills the room from *open on, which moves. */
static size_t cut(balance_share whole, int64_t *room, size_t num_senders, size_t *open,
                  balance_share *out)
{
    size_t number = 0;
    for (int64_t done = 0; done < whole.size; number++) {
        *open = find_room(room, num_senders, *open, 1);
        const int64_t size = min_i64(room[*open], whole.size - done);
        out[number] = (balance_share){whole.box, *open, done, size};
        room[*open] -= size;
        done += size;
    }
    return number;
}

/*
 * The first answer, a share a box, is stored after room for as many shares as cuts can add: each
 * cut uses up a sender's room, so the final shares never reach what is yet to be read.
 */
size_t balance(const int64_t *boxes, size_t count, int64_t *loads, size_t num_senders,
               balance_share *out)
{
    if (num_senders == 0) {
        return 0;
    }
    const int64_t most = level(boxes, count, loads, num_senders);
    size_t open = 0;
    size_t number = 0;
    for (size_t i = 0; i < num_senders; i++) {
        loads[i] = most - loads[i];
    }
    balance_share *const whole = out + num_senders;
    place_whole(boxes, count, loads, num_senders, whole);
    for (size_t i = 0; i < count; i++) {
        if (whole[i].sender < num_senders) {
            out[number++] = whole[i];
        } else {
            number += cut(whole[i], loads, num_senders, &open, out + number);
        }
    }
    return number;
}
