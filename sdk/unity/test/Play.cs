// Runs the package's tests as Unity's test runner does: a frame passes at each step. The attributes are NUnit's.
using System;
using System.Collections;
using System.Linq;
using System.Reflection;
using UnityEngine;

namespace NUnit.Framework
{
    public sealed class TearDownAttribute : Attribute
    {
    }

    public static class Assert
    {
        static void Check(bool ok, object expected, object actual)
        {
            if (!ok) throw new Exception("expected " + expected + ", got " + actual);
        }

        public static void IsTrue(bool ok) => Check(ok, true, ok);
        public static void AreEqual(object expected, object actual) => Check(Equals(expected, actual), expected, actual);
        public static void Contains(object expected, ICollection all) => Check(all.Cast<object>().Contains(expected), expected, all);
    }
}

namespace UnityEngine.TestTools
{
    public sealed class UnityTestAttribute : Attribute
    {
    }
}

static class Play
{
    static int Main()
    {
        var failed = 0;
        var fixture = typeof(Matchmaking.Tests.MatchmakerTests);
        var tests = fixture.GetMethods().Where(m => m.GetCustomAttribute<UnityEngine.TestTools.UnityTestAttribute>() != null);
        var ends = fixture.GetMethods().Single(m => m.GetCustomAttribute<NUnit.Framework.TearDownAttribute>() != null);
        foreach (var test in tests)
        {
            var of = Activator.CreateInstance(fixture);
            try
            {
                Run((IEnumerator)test.Invoke(of, null));
                Console.WriteLine("ok " + test.Name);
            }
            catch (Exception e)
            {
                failed++;
                Console.WriteLine("failed " + test.Name + ": " + (e.InnerException ?? e));
            }
            ends.Invoke(of, null);
        }
        return failed;
    }

    static void Run(IEnumerator test)
    {
        while (test.MoveNext())
        {
            if (test.Current is IEnumerator inner) Run(inner);
            Frame.Run(1);
        }
    }
}
