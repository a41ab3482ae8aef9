#define HEAD_ALL (HEAD_BYTES + (LENGTH > 0))
#define MOST_RUN (RUN_MAX - RUN_MIN)

static const char *wrong_count(int count)
{
  return count <= MOST ? NULL : E_COUNT;
}

static void apply_key(byte *data, int size, int undo)
{
  byte key = SEED;
  for (int i = 0; i < size; i++) {
    byte before = data[i];
    data[i] ^= key;
    if (CHAIN)
      key = undo ? before : data[i];
    else if (RAMP)
      key += STEP;
    else
      key = key >> 1 ^ (key & 1 ? STEP : 0);
  }
}

static int put_wide(byte *out, long value)
{
  value -= LOW;
  out[!BIG] = value >> 8;
  out[BIG] = value & 255;
  return 2;
}

static long get_wide(const byte *in)
{
  return in[!BIG] * 256L + in[BIG] + LOW;
}

static int pack(const long *values, int count, byte *out)
{
  int n = 3, i = 1;
  out[0] = count - COUNT_LESS;
  put_wide(out + 1, values[0]);
  while (i < count) {
    int run = 0;
    long step = values[i] - values[i - 1];
    while (run < RUN_MAX && i + run < count && values[i + run] == values[i - 1])
      run++;
    if (run >= RUN_MIN) {
      out[n++] = RUN_BASE + run - RUN_MIN;
      i += run;
      continue;
    }
    if (step >= -STEP_MAX && step <= STEP_MAX) {
      long code = STEP_ZIGZAG ? (step < 0 ? -2 * step - 1 : 2 * step) : step + STEP_MAX;
      out[n++] = STEP_BASE + code;
    } else {
      out[n++] = ESCAPE;
      n += put_wide(out + n, values[i]);
    }
    i++;
  }
  apply_key(out, n, 0);
  return n;
}

static int in_range(int i, long value)
{
  (void)i;
  return value >= LOW && value <= HIGH;
}

static int unpack(byte *data, int size, long *values)
{
  int count, n = 1, at = 3;
  apply_key(data, size, 1);
  count = data[0] + COUNT_LESS;
  if (count > MOST)
    return -1;
  values[0] = get_wide(data + 1);
  while (at < size && n <= count) {
    int code = data[at++], small = code - STEP_BASE, run = code - RUN_BASE;
    if (code == ESCAPE && at + 2 <= size) {
      values[n++] = get_wide(data + at);
      at += 2;
    } else if (code != ESCAPE && run >= 0 && run <= MOST_RUN) {
      for (run += RUN_MIN; run > 0; run--, n++)
        if (n <= MOST)
          values[n] = values[n - 1];
    } else if (code != ESCAPE && small >= 0 && small <= 2 * STEP_MAX) {
      long step = STEP_ZIGZAG ? (small >> 1 ^ -(small & 1)) : small - STEP_MAX;
      values[n] = values[n - 1] + step;
      n++;
    } else {
      return -1;
    }
  }
  if (n != count || at < size)
    return -1;
  for (int i = 0; i < n; i++)
    if (!in_range(i, values[i]))
      return -1;
  return n;
}

static int size_fits(int size)
{
  return size >= 3 && size <= 240;
}
