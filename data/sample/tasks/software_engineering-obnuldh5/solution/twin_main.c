
#define OVERHEAD (HEAD_ALL + COUNTERS + CHECK_BYTES)

static int put_head(byte *frame, int size)
{
  memcpy(frame, head, HEAD_BYTES);
  if (LENGTH)
    frame[HEAD_BYTES] = LENGTH == 1 ? size : size + OVERHEAD;
  return HEAD_ALL;
}

static const char *encode(char *line)
{
  static int made;
  static byte frame[4096];
  long values[MOST + 1];
  int count = 0, n, size;
  char *at = line;
  for (;;) {
    long sum = 0;
    int minus = *at == '-', digits = 0;
    for (at += minus; *at >= '0' && *at <= '9'; at++, digits++)
      if (digits < 7)
        sum = 10 * sum + *at - '0';
    if (digits < 1 || digits > 6 || (*at && *at != SEPARATOR))
      return E_FORMAT;
    if (count <= MOST)
      values[count] = minus ? -sum : sum;
    count++;
    if (!*at++)
      break;
  }
  if (wrong_count(count))
    return E_COUNT;
  for (int i = 0; i < count; i++)
    if (!in_range(i, values[i]))
      return E_RANGE;
  n = HEAD_ALL + COUNTERS;
  size = pack(values, count, frame + n);
  put_head(frame, size);
  if (COUNTERS)
    frame[HEAD_ALL] = (COUNTER_FIRST + made) % (COUNTER_MODULUS + !COUNTERS);
  made++;
  n += size;
  add_check(frame, n);
  for (int i = 0; i < n + CHECK_BYTES; i++)
    printf(HEX_FORMAT, frame[i]);
  putchar('\n');
  return NULL;
}

static int nibble(char c)
{
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) % 16 : -1;
}

static const char *decode(char *line)
{
  static byte frame[1 << 20], again[1 << 20];
  long values[256];
  int length = (int)strlen(line), size, count, n;
  for (int i = 0; i < length; i++)
    if (nibble(line[i]) < 0)
      return E_FORMAT;
  if (length % 2)
    return E_FORMAT;
  for (int i = 0; i < length / 2; i++)
    frame[i] = again[i] = nibble(line[2 * i]) * 16 + nibble(line[2 * i + 1]);
  size = length / 2 - OVERHEAD;
  if (!size_fits(size))
    return E_SIZE;
  n = put_head(again, size);
  if (memcmp(frame, again, n))
    return E_HEADER;
  add_check(again, length / 2 - CHECK_BYTES);
  if (memcmp(frame, again, length / 2))
    return E_CHECK;
  count = unpack(frame + n + COUNTERS, size, values);
  if (count < 0)
    return E_PAYLOAD;
  for (int i = 0; i < count; i++) {
    if (i)
      putchar(SEPARATOR);
    printf("%ld", values[i]);
  }
  putchar('\n');
  return NULL;
}

int main(int argc, char **argv)
{
  static char line[1 << 21];
  int status = 0, decoding;
  if (argc != 2 || (strcmp(argv[1], ENCODE) && strcmp(argv[1], DECODE))) {
    fprintf(stderr, "usage: %s %s|%s\n", argv[0], ENCODE, DECODE);
    return 2;
  }
  decoding = !strcmp(argv[1], DECODE);
  while (fgets(line, sizeof line, stdin)) {
    const char *error;
    size_t length = strlen(line);
    if (length && line[length - 1] == '\n')
      line[--length] = 0;
    if (length && line[length - 1] == '\r')
      line[--length] = 0;
    if (!length)
      continue;
    error = decoding ? decode(line) : encode(line);
    if (error) {
      puts(error);
      status = 1;
    }
  }
  return status;
}
