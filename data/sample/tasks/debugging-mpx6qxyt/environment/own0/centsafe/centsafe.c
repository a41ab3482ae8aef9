/* Keeps accounts in cents and closes them day by day. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 1000

#define MAX_ACCOUNTS 256
#define MAX_WORDS 32
#define WORD 48

/* Balance, and what went through the account since the day began. */
struct account {
    char name[WORD];
    long long balance, turnover;
};

static struct account accounts[MAX_ACCOUNTS];
static int account_count, days;

enum result { DONE, INVALID, REFUSED };

static struct account *find(const char *name)
{
    int at = account_count;
    for (int i = 0; i < account_count; i++)
        if (strcmp(accounts[i].name, name) == 0)
            return &accounts[i];
    if (account_count == MAX_ACCOUNTS)
        exit(1);
    while (at > 0 && strcmp(accounts[at - 1].name, name) > 0) {
        accounts[at] = accounts[at - 1];
        at--;
    }
    account_count++;
    memset(&accounts[at], 0, sizeof accounts[at]);
    strcpy(accounts[at].name, name);
    return &accounts[at];
}

static long long balance_of(const char *name)
{
    for (int i = 0; i < account_count; i++)
        if (strcmp(accounts[i].name, name) == 0)
            return accounts[i].balance;
    return 0;
}

/* Cents of an amount such as 12, 12.5 or -0.50; 0 for anything else. */
static int cents(const char *text, long long *value)
{
    int negative = *text == '-';
    size_t digits;
    text += negative;
    digits = strspn(text, "0123456789");
    if (digits == 0)
        return 0;
    *value = atoll(text) * 100;
    text += digits;
    if (*text == '.') {
        text++;
        digits = strspn(text, "0123456789");
        if (digits < 1 || digits > 2)
            return 0;
        *value += digits == 2 ? atoi(text) : 10 * atoi(text);
        text += digits;
    }
    if (negative)
        *value = -*value;
    return *text == 0;
}

static void show(long long value)
{
    long long size = value < 0 ? -value : value;
    printf("%s%lld.%02lld", value < 0 ? "-" : "", size / 100, size % 100);
}

/* So many thousandths of a value, rounded to whole cents, halves away from zero. */
static long long share(long long value, long long per_mille)
{
    long long size = value < 0 ? -value : value;
    long long part = (2 * size * per_mille + 1000) / 2000;
    return value < 0 ? -part : part;
}

static void post(const char *name, long long value)
{
    struct account *account = find(name);
    account->balance += value;
    account->turnover += value < 0 ? -value : value;
}

/* Equal parts; cents that are left over go to the first accounts, one each. */
static void split(long long value, char names[][WORD], int count)
{
    int sign = value < 0 ? -1 : 1;
    long long part = sign * value / count, rest = sign * value % count;
    for (int i = 0; i < count; i++)
        post(names[i], sign * (part + (i < rest ? 1 : 0)));
}

static enum result move(const char *source, const char *target, long long value)
{
    if (value <= 0)
        return INVALID;
    if (balance_of(source) - value < -LIMIT)
        return REFUSED;
    post(source, -value);
    post(target, value);
    return DONE;
}

/* Prints the lines of a day's end. */
static void close_day(void)
{
    long long total = 0;
    printf("day %d\n", ++days);
    for (int i = 0; i < account_count; i++) {
        printf("%s ", accounts[i].name);
        show(accounts[i].balance);
        printf(" moved ");
        show(accounts[i].turnover);
        putchar('\n');
        total += accounts[i].balance;
        accounts[i].turnover = 0;
    }
    printf("total ");
    show(total);
    putchar('\n');
}

static enum result apply(char words[][WORD], int n)
{
    const char *command = words[0];
    long long value;
    if (strcmp(command, "post") == 0 && n == 3) {
        if (!cents(words[2], &value))
            return INVALID;
        post(words[1], value);
    } else if (strcmp(command, "split") == 0 && n >= 3) {
        if (!cents(words[1], &value))
            return INVALID;
        split(value, words + 2, n - 2);
    } else if (strcmp(command, "move") == 0 && n == 4) {
        if (!cents(words[3], &value))
            return INVALID;
        return move(words[1], words[2], value);
    } else if (strcmp(command, "fee") == 0 && n == 3
               && strspn(words[2], "0123456789") == strlen(words[2])) {
        post(words[1], -share(balance_of(words[1]), atoll(words[2])));
    } else if (strcmp(command, "day") == 0 && n == 1) {
        close_day();
    } else {
        return INVALID;
    }
    return DONE;
}

int main(void)
{
    char line[1024], words[MAX_WORDS][WORD];
    int number = 0;
    while (fgets(line, sizeof line, stdin)) {
        enum result result;
        int n = 0;
        number += line[strspn(line, " \t\r\n")] != 0;
        if (line[0] == '#')
            continue;
        for (char *word = strtok(line, " \t\r\n"); word && n < MAX_WORDS; word = strtok(NULL, " \t\r\n"))
            snprintf(words[n++], WORD, "%s", word);
        if (n == 0)
            continue;
        result = apply(words, n);
        if (result != DONE)
            printf("line %d: %s\n", number, result == INVALID ? "invalid" : "refused");
    }
    close_day();
    return 0;
}
