/* Replays a request log against the rate limiter and says what would have happened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 5
#define BURST 20
#define STRIKES 3
#define PENALTY 2000

#define MAX_CLIENTS 256
#define NAME_SIZE 64

/* The bucket of one client, in thousandths of a token. */
struct client {
    char name[NAME_SIZE];
    long long level, last, until;
    int strikes, allowed, denied, blocked;
};

static struct client clients[MAX_CLIENTS];
static int client_count;
static long long now;

static struct client *find_client(const char *name)
{
    struct client *client;
    for (int i = 0; i < client_count; i++)
        if (strcmp(clients[i].name, name) == 0)
            return &clients[i];
    if (client_count == MAX_CLIENTS)
        exit(1);
    client = &clients[client_count++];
    strcpy(client->name, name);
    client->level = BURST * 1000LL;
    client->last = now;
    return client;
}

static void refill(struct client *client)
{
    client->level += (now - client->last) * RATE;
    if (client->level > BURST * 1000LL)
        client->level = BURST * 1000LL;
    client->last = now;
}

/* Prints the decision on one request. */
static void request(struct client *client, long long cost)
{
    long long missing;
    if (now < client->until) {
        client->blocked++;
        printf("blocked %lld\n", client->until);
        return;
    }
    refill(client);
    if (client->level >= cost * 1000) {
        client->level -= cost * 1000;
        client->allowed++;
        client->strikes = 0;
        printf("allow %lld\n", client->level / 1000);
        return;
    }
    client->denied++;
    client->strikes++;
    if (client->strikes == STRIKES) {
        client->strikes = 0;
        client->until = now + PENALTY;
    }
    if (cost > BURST) {
        printf("deny never\n");
        return;
    }
    missing = cost * 1000 - client->level;
    printf("deny %lld\n", (missing + RATE - 1) / RATE);
}

static int is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static void answer(const char *line)
{
    char time[NAME_SIZE], name[NAME_SIZE], cost[NAME_SIZE], rest[2];
    int fields = sscanf(line, "%63s %63s %63s %1s", time, name, cost, rest);
    if (fields < 1)
        return;
    if (fields != 3 || !is_number(time) || !is_number(cost)) {
        printf("error\n");
        return;
    }
    if (atoll(time) > now)
        now = atoll(time);
    printf("%s %s ", time, name);
    request(find_client(name), atoll(cost));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct client *)a)->name, ((const struct client *)b)->name);
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin))
        answer(line);
    qsort(clients, client_count, sizeof *clients, by_name);
    for (int i = 0; i < client_count; i++)
        printf("%s allowed=%d denied=%d blocked=%d\n", clients[i].name, clients[i].allowed,
               clients[i].denied, clients[i].blocked);
    return 0;
}
