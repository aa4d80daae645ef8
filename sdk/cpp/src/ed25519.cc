#include "ed25519.h"

#include <array>
#include <cstdint>

// What is verified is no secret, so nothing here takes care to take the same time.
namespace matchmaker {
namespace {

using Bytes = std::array<unsigned char, 64>;

// SHA-512, FIPS 180-4.

const std::uint64_t rounds[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

std::uint64_t turn(std::uint64_t x, int by) { return x >> by | x << (64 - by); }

Bytes sha512(std::string text) {
  std::uint64_t h[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
  };
  const std::uint64_t bits = static_cast<std::uint64_t>(text.size()) * 8;
  text += '\x80';
  while (text.size() % 128 != 112) text += '\0';
  text.append(8, '\0');
  for (int i = 56; i >= 0; i -= 8) text += static_cast<char>(bits >> i & 255);
  for (std::size_t at = 0; at < text.size(); at += 128) {
    std::uint64_t w[80];
    for (std::size_t t = 0; t < 16; t++) {
      w[t] = 0;
      for (std::size_t i = 0; i < 8; i++) w[t] = w[t] << 8 | static_cast<unsigned char>(text[at + t * 8 + i]);
    }
    for (std::size_t t = 16; t < 80; t++) {
      const std::uint64_t a = turn(w[t - 15], 1) ^ turn(w[t - 15], 8) ^ w[t - 15] >> 7;
      const std::uint64_t b = turn(w[t - 2], 19) ^ turn(w[t - 2], 61) ^ w[t - 2] >> 6;
      w[t] = w[t - 16] + a + w[t - 7] + b;
    }
    std::uint64_t v[8];
    for (int i = 0; i < 8; i++) v[i] = h[i];
    for (int t = 0; t < 80; t++) {
      const std::uint64_t e = turn(v[4], 14) ^ turn(v[4], 18) ^ turn(v[4], 41);
      const std::uint64_t one = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[t] + w[t];
      const std::uint64_t a = turn(v[0], 28) ^ turn(v[0], 34) ^ turn(v[0], 39);
      const std::uint64_t two = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      for (int i = 7; i > 0; i--) v[i] = v[i - 1];
      v[4] += one;
      v[0] = one + two;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
  }
  Bytes digest{};
  for (std::size_t i = 0; i < 64; i++) digest[i] = static_cast<unsigned char>(h[i / 8] >> (56 - i % 8 * 8) & 255);
  return digest;
}

/** A number modulo 2^255 - 19: sixteen digits of 16 bits, which may be larger, or less than 0, between two products. */
using Field = std::array<std::int64_t, 16>;

const Field zero{};
const Field one{1};
const Field d{
    0x78a3, 0x1359, 0x4dca, 0x75eb, 0xd8ab, 0x4141, 0x0a4d, 0x0070,
    0xe898, 0x7779, 0x4079, 0x8cc7, 0xfe73, 0x2b6f, 0x6cee, 0x5203};
const Field twoD{
    0xf159, 0x26b2, 0x9b94, 0xebd6, 0xb156, 0x8283, 0x149a, 0x00e0,
    0xd130, 0xeef3, 0x80f2, 0x198e, 0xfce7, 0x56df, 0xd9dc, 0x2406};
const Field rootOfMinusOne{
    0xa0b0, 0x4a0e, 0x1b27, 0xc4ee, 0xe478, 0xad2f, 0x1806, 0x2f43,
    0xd7a7, 0x3dfb, 0x0099, 0x2b4d, 0xdf0b, 0x4fc1, 0x2480, 0x2b83};
const Field baseX{
    0xd51a, 0x8f25, 0x2d60, 0xc956, 0xa7b2, 0x9525, 0xc760, 0x692c,
    0xdc5c, 0xfdd6, 0xe231, 0xc0a4, 0x53fe, 0xcd6e, 0x36d3, 0x2169};
const Field baseY{
    0x6658, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666,
    0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666};

void carry(Field& f) {
  for (std::size_t i = 0; i < 16; i++) {
    const std::int64_t over = f[i] >> 16;
    f[i] -= over * 65536;
    if (i < 15) {
      f[i + 1] += over;
    } else {
      f[0] += 38 * over;
    }
  }
}

Field plus(const Field& a, const Field& b) {
  Field to;
  for (std::size_t i = 0; i < 16; i++) to[i] = a[i] + b[i];
  return to;
}

Field minus(const Field& a, const Field& b) {
  Field to;
  for (std::size_t i = 0; i < 16; i++) to[i] = a[i] - b[i];
  return to;
}

Field times(const Field& a, const Field& b) {
  std::int64_t product[31] = {};
  for (std::size_t i = 0; i < 16; i++) {
    for (std::size_t k = 0; k < 16; k++) product[i + k] += a[i] * b[k];
  }
  Field to;
  for (std::size_t i = 0; i < 16; i++) to[i] = product[i] + (i < 15 ? 38 * product[i + 16] : 0);
  carry(to);
  carry(to);
  return to;
}

/** The digits that there is one choice of. */
Field unique(Field f) {
  for (int i = 0; i < 3; i++) carry(f);
  for (int twice = 0; twice < 2; twice++) {
    Field less = f;  // f - p, if that is not less than 0
    less[0] -= 0xffed;
    for (std::size_t i = 1; i < 15; i++) less[i] -= 0xffff;
    less[15] -= 0x7fff;
    for (std::size_t i = 0; i < 15; i++) {
      const std::int64_t over = less[i] >> 16;
      less[i] -= over * 65536;
      less[i + 1] += over;
    }
    if (less[15] >= 0) f = less;
  }
  return f;
}

/** To the power of 2^252 - 3, or with `invert` of p - 2 = 2^255 - 21. */
Field power(const Field& f, bool invert) {
  Field to = f;
  const int top = invert ? 254 : 251;
  for (int bit = top - 1; bit >= 0; bit--) {
    to = times(to, to);
    const bool set = invert ? bit != 2 && bit != 4 : bit != 1;
    if (set) to = times(to, f);
  }
  return to;
}

/** A point: x = X / Z, y = Y / Z, T = X Y / Z. */
struct Point {
  Field x, y, z, t;
};

Point plus(const Point& p, const Point& q) {
  const Field a = times(minus(p.y, p.x), minus(q.y, q.x));
  const Field b = times(plus(p.y, p.x), plus(q.y, q.x));
  const Field c = times(times(p.t, q.t), twoD);
  const Field z = times(p.z, q.z);
  const Field dd = plus(z, z);
  const Field e = minus(b, a), f = minus(dd, c), g = plus(dd, c), h = plus(b, a);
  return {times(e, f), times(g, h), times(f, g), times(e, h)};
}

Field fieldOf(const unsigned char* bytes) {
  Field f;
  for (std::size_t i = 0; i < 16; i++) f[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;
  f[15] &= 0x7fff;
  return f;
}

/** Reads a point; with x negated. */
bool negated(const unsigned char* bytes, Point& p) {
  p.y = fieldOf(bytes);
  if (unique(p.y) != p.y) return false;
  p.z = one;
  const Field yy = times(p.y, p.y);
  const Field u = minus(yy, one);
  const Field v = plus(times(yy, d), one);
  // The root of u / v is u v^3 (u v^7)^((p - 5) / 8), or that times the root of -1.
  const Field v3 = times(times(v, v), v);
  p.x = times(times(u, v3), power(times(times(times(v3, v3), v), u), false));
  if (unique(times(v, times(p.x, p.x))) != unique(u)) p.x = times(p.x, rootOfMinusOne);
  if (unique(times(v, times(p.x, p.x))) != unique(u)) return false;
  const Field x = unique(p.x);
  const bool odd = bytes[31] >> 7;
  if (odd && x == zero) return false;
  if ((x[0] & 1) == odd) p.x = minus(zero, x);
  p.t = times(p.x, p.y);
  return true;
}

/** A number in digits of 32 bits, the least one first. */
using Scalar = std::array<std::uint32_t, 8>;

/** How many points there are in the group of the base. */
const Scalar order{0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de, 0x00000000, 0x00000000, 0x00000000, 0x10000000};

bool less(const Scalar& a, const Scalar& b) {
  for (std::size_t i = 8; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}

/** A number of so many bytes, modulo the order. */
Scalar reduced(const unsigned char* bytes, std::size_t n) {
  Scalar r{};
  for (std::size_t bit = n * 8; bit-- > 0;) {
    std::uint32_t in = bytes[bit / 8] >> (bit % 8) & 1;
    for (std::uint32_t& digit : r) {
      const std::uint32_t out = digit >> 31;
      digit = digit << 1 | in;
      in = out;
    }
    if (less(r, order)) continue;
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < 8; i++) {
      const std::uint64_t difference = static_cast<std::uint64_t>(r[i]) - order[i] - borrow;
      r[i] = static_cast<std::uint32_t>(difference);
      borrow = difference >> 63;
    }
  }
  return r;
}

bool bitOf(const Scalar& s, std::size_t i) { return s[i / 32] >> (i % 32) & 1; }

}  // namespace

bool verifyEd25519(const std::string& key, const std::string& message, const std::string& signature) {
  if (key.size() != 32 || signature.size() != 64) return false;
  const auto bytes = [](const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  const unsigned char* sign = bytes(signature);
  Scalar s{};
  for (std::size_t i = 0; i < 32; i++) s[i / 4] |= static_cast<std::uint32_t>(sign[32 + i]) << (i % 4 * 8);
  Point a;
  if (!less(s, order) || !negated(bytes(key), a)) return false;
  const Bytes digest = sha512(signature.substr(0, 32) + key + message);
  const Scalar h = reduced(digest.data(), digest.size());
  const Point base{baseX, baseY, one, times(baseX, baseY)};
  // It must be that R = s B - h A.
  Point r{zero, one, one, zero};
  for (std::size_t bit = 256; bit-- > 0;) {
    r = plus(r, r);
    if (bitOf(s, bit)) r = plus(r, base);
    if (bitOf(h, bit)) r = plus(r, a);
  }
  const Field inverse = power(r.z, true);
  const Field x = unique(times(r.x, inverse));
  Field y = unique(times(r.y, inverse));
  y[15] |= (x[0] & 1) << 15;
  for (std::size_t i = 0; i < 16; i++) {
    if (y[i] != (sign[2 * i] | sign[2 * i + 1] << 8)) return false;
  }
  return true;
}

}  // namespace matchmaker
