#define MOST FIELDS
#define HEAD_ALL HEAD_BYTES
#define LENGTH 0

static const char *wrong_count(int count)
{
  return count == FIELDS ? NULL : E_COUNT;
}

static byte *bit_at(byte *data, int place)
{
  return data + (BIG ? SIZE - 1 - place / 8 : place / 8);
}

static unsigned long to_code(int i, long value)
{
  unsigned long plain = value - fields[i].low;
  if (fields[i].coding == 'g')
    return plain ^ plain >> 1;
  if (fields[i].coding == 'z')
    return value >= 0 ? 2 * value : -2 * value - 1;
  return fields[i].coding == 'o' ? plain : (unsigned long)value;
}

static long from_code(int i, unsigned long code)
{
  unsigned long plain = 0;
  switch (fields[i].coding) {
  case 'g':
    for (; code; code >>= 1)
      plain ^= code;
    return (long)plain + fields[i].low;
  case 'z':
    return (long)(code >> 1) ^ -(long)(code & 1);
  case 'o':
    return (long)code + fields[i].low;
  default:
    return (long)code - (code >> (fields[i].bits - 1) ? 1L << fields[i].bits : 0);
  }
}

static void flip_mask(byte *data)
{
  for (int i = 0; i < SIZE; i++)
    data[i] ^= mask[BIG ? i : SIZE - 1 - i];
}

static int pack(const long *values, int count, byte *out)
{
  memset(out, 0, SIZE);
  flip_mask(out);
  for (int i = 0; i < count; i++) {
    unsigned long code = to_code(i, values[i]);
    for (int b = 0; b < fields[i].bits; b++)
      if (code >> b & 1)
        *bit_at(out, fields[i].shift + b) ^= 1 << (fields[i].shift + b) % 8;
  }
  for (int i = 1; CHAINED && i < SIZE; i++)
    out[i] ^= out[i - 1];
  return SIZE;
}

static int unpack(byte *data, int size, long *values)
{
  for (int i = size - 1; CHAINED && i > 0; i--)
    data[i] ^= data[i - 1];
  flip_mask(data);
  for (int i = 0; i < FIELDS; i++) {
    unsigned long code = 0;
    for (int b = fields[i].bits - 1; b >= 0; b--) {
      byte *at = bit_at(data, fields[i].shift + b), one = 1 << (fields[i].shift + b) % 8;
      code = code << 1 | !!(*at & one);
      *at &= ~one;
    }
    values[i] = from_code(i, code);
    if (values[i] < fields[i].low || values[i] > fields[i].high)
      return -1;
  }
  for (int i = 0; i < size; i++)
    if (data[i])
      return -1;
  return FIELDS;
}

static int in_range(int i, long value)
{
  return value >= fields[i].low && value <= fields[i].high;
}

static int size_fits(int size)
{
  return size == SIZE;
}
