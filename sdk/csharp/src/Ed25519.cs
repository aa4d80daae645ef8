using System;
using System.Numerics;
using System.Security.Cryptography;

namespace Matchmaking
{
    /// <summary>Verifies signatures as RFC 8032 says. What is verified is no secret, so it takes no care to take the same
    /// time.</summary>
    static class Ed25519
    {
        static readonly BigInteger P = BigInteger.Pow(2, 255) - 19;
        /// <summary>How many points there are in the group of the base.</summary>
        static readonly BigInteger Order = BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493");
        static readonly BigInteger D = Mod(-121665 * Inverse(121666));
        static readonly BigInteger RootOfMinusOne = BigInteger.ModPow(2, (P - 1) / 4, P);
        static readonly Point Base = PointOf(Mod(4 * Inverse(5)), false);

        /// <summary>A point: x = X / Z, y = Y / Z, T = X Y / Z.</summary>
        sealed class Point
        {
            internal readonly BigInteger X, Y, Z, T;

            internal Point(BigInteger x, BigInteger y, BigInteger z, BigInteger t)
            {
                X = x;
                Y = y;
                Z = z;
                T = t;
            }

            public static Point operator +(Point p, Point q)
            {
                var a = Mod((p.Y - p.X) * (q.Y - q.X));
                var b = Mod((p.Y + p.X) * (q.Y + q.X));
                var c = Mod(2 * p.T * q.T % P * D);
                var d = Mod(2 * p.Z * q.Z);
                BigInteger e = b - a, f = d - c, g = d + c, h = b + a;
                return new Point(Mod(e * f), Mod(g * h), Mod(f * g), Mod(e * h));
            }
        }

        internal static bool Verify(byte[] key, byte[] message, byte[] signature)
        {
            if (key.Length != 32 || signature.Length != 64) return false;
            var s = Number(signature, 32, 32);
            var compressed = Number(key, 0, 32);
            var odd = !((compressed >> 255).IsZero);
            var a = PointOf(compressed & ((BigInteger.One << 255) - 1), !odd); // with x negated
            if (s >= Order || a == null) return false;
            byte[] digest;
            using (var sha = SHA512.Create())
            {
                var text = new byte[64 + message.Length];
                Array.Copy(signature, 0, text, 0, 32);
                Array.Copy(key, 0, text, 32, 32);
                Array.Copy(message, 0, text, 64, message.Length);
                digest = sha.ComputeHash(text);
            }
            var h = Number(digest, 0, 64) % Order;
            // It must be that R = s B - h A.
            var r = new Point(0, 1, 1, 0);
            for (var bit = 255; bit >= 0; bit--)
            {
                r = r + r;
                if (!(s >> bit).IsEven) r = r + Base;
                if (!(h >> bit).IsEven) r = r + a;
            }
            var inverse = Inverse(r.Z);
            var x = Mod(r.X * inverse);
            var y = Mod(r.Y * inverse);
            return Number(signature, 0, 32) == y + (x.IsEven ? 0 : BigInteger.One << 255);
        }

        static BigInteger Mod(BigInteger n)
        {
            n %= P;
            return n.Sign < 0 ? n + P : n;
        }

        static BigInteger Inverse(BigInteger n) => BigInteger.ModPow(n, P - 2, P);

        /// <summary>A number, the least byte first.</summary>
        static BigInteger Number(byte[] bytes, int from, int count)
        {
            var unsigned = new byte[count + 1];
            Array.Copy(bytes, from, unsigned, 0, count);
            return new BigInteger(unsigned);
        }

        /// <summary>The point with this y, and an x that is odd or even; null if there is none.</summary>
        static Point PointOf(BigInteger y, bool odd)
        {
            if (y >= P) return null;
            var yy = Mod(y * y);
            var xx = Mod((yy - 1) * Inverse(Mod(D * yy + 1)));
            var x = BigInteger.ModPow(xx, (P + 3) / 8, P);
            if (Mod(x * x - xx) != 0) x = Mod(x * RootOfMinusOne);
            if (Mod(x * x - xx) != 0) return null;
            if (x.IsEven == odd) x = P - x;
            return new Point(Mod(x), y, 1, Mod(x * y));
        }
    }
}
