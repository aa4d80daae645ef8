// The code of the README, which is compiled in place of the line README.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Matchmaking;
using Matchmaking.Unity;

static class Page
{
    static void Login(Action<string> reply) => reply("");

    static void Show(Update update)
    {
    }

    static void Connect(string connection, string seat)
    {
    }

    static async Task Play(CancellationToken cancel)
    {
README
    }
}
