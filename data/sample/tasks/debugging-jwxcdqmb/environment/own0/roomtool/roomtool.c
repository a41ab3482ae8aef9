/* Keeps the bookings of a few places for one day. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP 10
#define SHORTEST 30
#define EMPTY "empty"

#define MAX_BOOKINGS 512
#define WORD 64

/* A half-open span of minutes in one place; all are kept in order of start. */
struct booking {
    char place[WORD], name[WORD];
    int start, end;
};

static struct booking bookings[MAX_BOOKINGS];
static int count;

/* Minutes since midnight of HH:MM, up to 24:00; -1 for anything else. */
static int minutes(const char *text)
{
    int hour, minute;
    if (strlen(text) != 5 || text[2] != ':' || strspn(text, "0123456789") != 2
        || strspn(text + 3, "0123456789") != 2)
        return -1;
    hour = atoi(text);
    minute = atoi(text + 3);
    if (minute > 59 || hour * 60 + minute > 24 * 60)
        return -1;
    return hour * 60 + minute;
}

static int find(const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(bookings[i].name, name) == 0)
            return i;
    return -1;
}

static void insert(const char *place, const char *name, int start, int end)
{
    int at = count;
    if (count == MAX_BOOKINGS)
        exit(1);
    while (at > 0 && bookings[at - 1].start > start) {
        bookings[at] = bookings[at - 1];
        at--;
    }
    strcpy(bookings[at].place, place);
    strcpy(bookings[at].name, name);
    bookings[at].start = start;
    bookings[at].end = end;
    count++;
}

static void book(const char *place, const char *first, const char *last, const char *name)
{
    int start = minutes(first), end = minutes(last);
    if (start < 0 || end <= start) {
        printf("invalid\n");
        return;
    }
    if (find(name) >= 0) {
        printf("duplicate %s\n", name);
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct booking *other = &bookings[i];
        if (strcmp(other->place, place) != 0)
            continue;
        if (start <= other->end + GAP && other->start <= end + GAP) {
            printf("clash %s\n", other->name);
            return;
        }
    }
    insert(place, name, start, end);
    printf("ok %s\n", name);
}

static void cancel(const char *name)
{
    int at = find(name);
    if (at < 0) {
        printf("unknown %s\n", name);
        return;
    }
    for (int i = at; i + 1 < count; i++)
        bookings[i] = bookings[i + 1];
    count--;
    printf("ok %s\n", name);
}

static void print_span(int start, int end)
{
    printf("%02d:%02d-%02d:%02d", start / 60, start % 60, end / 60, end % 60);
}

/* Prints the spans without a booking that are at least SHORTEST long. */
static void free_spans(const char *place, const char *first, const char *last)
{
    int begin = minutes(first), end = minutes(last), cursor = begin, found = 0;
    if (begin < 0 || end <= begin) {
        printf("invalid\n");
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct booking *b = &bookings[i];
        if (strcmp(b->place, place) != 0 || b->end <= begin || b->start >= end)
            continue;
        if (b->start - cursor >= SHORTEST) {
            if (found++)
                putchar(' ');
            print_span(cursor, b->start);
        }
        cursor = b->end;
    }
    if (end - cursor >= SHORTEST) {
        if (found++)
            putchar(' ');
        print_span(cursor, end);
    }
    printf("%s\n", found ? "" : "none");
}

static void list(const char *place)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(bookings[i].place, place) != 0)
            continue;
        if (found++)
            printf(", ");
        print_span(bookings[i].start, bookings[i].end);
        printf(" %s", bookings[i].name);
    }
    printf("%s\n", found ? "" : EMPTY);
}

static void busy(const char *place)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(bookings[i].place, place) == 0)
            total += bookings[i].end - bookings[i].start;
    printf("%d:%02d\n", total / 60, total % 60);
}

static void answer(const char *line)
{
    char w[6][WORD];
    int n = sscanf(line, "%63s %63s %63s %63s %63s %63s", w[0], w[1], w[2], w[3], w[4], w[5]);
    if (n < 1)
        return;
    if (n == 5 && strcmp(w[0], "book") == 0)
        book(w[1], w[2], w[3], w[4]);
    else if (n == 2 && strcmp(w[0], "cancel") == 0)
        cancel(w[1]);
    else if (n == 4 && strcmp(w[0], "free") == 0)
        free_spans(w[1], w[2], w[3]);
    else if (n == 2 && strcmp(w[0], "list") == 0)
        list(w[1]);
    else if (n == 2 && strcmp(w[0], "busy") == 0)
        busy(w[1]);
    else
        printf("error\n");
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin))
        answer(line);
    return 0;
}
