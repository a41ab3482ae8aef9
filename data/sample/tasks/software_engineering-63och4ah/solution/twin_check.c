#include <stdio.h>
#include <string.h>

/* Stands in for the vendor's tool; the numbers above were found by probing it. */

#define CHECK_BYTES (CHECK_WIDTH / 8)
#define COUNTERS (COUNTER_MODULUS > 0)

typedef unsigned char byte;

static unsigned mirrored(unsigned value, int width)
{
  unsigned out = 0;
  while (width--) {
    out = out << 1 | (value & 1);
    value >>= 1;
  }
  return out;
}

static unsigned check_value(const byte *data, int size)
{
  unsigned value = CHECK_INIT, high = 0;
  for (int i = 0; i < size; i++) {
    switch (CHECK_KIND) {
    case 0:
      value ^= (CHECK_REFLECT ? mirrored(data[i], 8) : data[i]) << (CHECK_WIDTH - 8);
      for (int bit = 0; bit < 8; bit++) {
        value <<= 1;
        if (value >> CHECK_WIDTH)
          value = (value ^ CHECK_POLY) & ((1u << CHECK_WIDTH) - 1);
      }
      break;
    case 1:
      value += data[i];
      break;
    case 2:
      value = ((value << CHECK_TURN | value >> (8 - CHECK_TURN)) & 255) ^ data[i];
      break;
    default:
      value = (value + data[i]) % CHECK_MODULUS;
      high = (high + value) % CHECK_MODULUS;
    }
  }
  if (CHECK_KIND == 0 && CHECK_REFLECT)
    value = mirrored(value, CHECK_WIDTH);
  if (CHECK_KIND == 1)
    return (value * CHECK_SIGN + CHECK_CONSTANT) & 255;
  return (high << 8 | value) ^ CHECK_CONSTANT;
}

static void add_check(byte *frame, int size)
{
  unsigned value = check_value(frame + CHECK_START, size - CHECK_START);
  for (int i = 0; i < CHECK_BYTES; i++)
    frame[size + i] = value >> 8 * (CHECK_BIG ? CHECK_BYTES - 1 - i : i);
}

