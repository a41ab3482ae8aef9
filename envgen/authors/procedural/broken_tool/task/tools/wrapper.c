/* Fills paragraphs of plain text to a fixed width. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 60
#define BULLET "- "
#define QUOTE "> "

#define MAX_LINE 4096

static char current[MAX_LINE]; /* the line that is being filled */
static const char *kind = "";  /* prefix that began the open paragraph */
static int is_open;            /* a paragraph has begun */
static int empty;              /* its line holds a prefix and nothing else */
static int gap, written;

static const char *continuation(void)
{
    return strcmp(kind, BULLET) == 0 ? "  " : kind;
}

static void separate(void)
{
    if (gap && written)
        putchar('\n');
    gap = 0;
    written = 1;
}

/* Write the paragraph that is open, if any. */
static void flush(void)
{
    if (is_open && !empty)
        printf("%s\n", current);
    is_open = 0;
    kind = "";
}

static void begin(const char *prefix)
{
    kind = prefix;
    is_open = 1;
    empty = 1;
    strcpy(current, prefix);
}

/* Adds a part of a word, which fits into a line. */
static void add_part(const char *part, size_t length)
{
    size_t needed = empty ? length : length + 1;
    if (empty)
        separate();
    if (strlen(current) + needed <= WIDTH) {
        if (!empty)
            strcat(current, " ");
        strncat(current, part, length);
    } else {
        printf("%s\n", current);
        strcpy(current, continuation());
        strncat(current, part, length);
    }
    empty = 0;
}

static void add_word(const char *word)
{
    size_t room = WIDTH - strlen(kind), length = strlen(word);
    while (length > room) {
        add_part(word, room);
        word += room;
        length -= room;
    }
    add_part(word, length);
}

static void add_words(char *text)
{
    for (char *word = strtok(text, " \t"); word; word = strtok(NULL, " \t"))
        add_word(word);
}

static int starts(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

static void feed(char *line)
{
    size_t length;
    if (line[strspn(line, " \t")] == 0) {
        flush();
        gap = 1;
    } else if (starts(line, "    ")) {
        flush();
        separate();
        length = strlen(line);
        while (length && strchr(" \t", line[length - 1]))
            length--;
        printf("%.*s\n", (int)length, line);
    } else if (starts(line, BULLET)) {
        flush();
        begin(BULLET);
        add_words(line + strlen(BULLET));
    } else if (starts(line, QUOTE)) {
        if (strcmp(kind, QUOTE) != 0) {
            flush();
            begin(QUOTE);
        }
        add_words(line + strlen(QUOTE));
    } else {
        if (strcmp(kind, QUOTE) == 0)
            flush();
        if (!is_open)
            begin("");
        add_words(line);
    }
}

int main(void)
{
    char line[MAX_LINE];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        feed(line);
    }
    flush();
    return 0;
}
