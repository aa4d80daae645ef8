using System.IO;
using UnityEngine;

namespace Matchmaking.Unity
{
    /// <summary>Keeps a search over a crash: in a file below Application.persistentDataPath, in WebGL in
    /// PlayerPrefs. Players who share a device need a name each.</summary>
    public sealed class UnityStorage : IStorage
    {
        readonly IStorage of;

        public UnityStorage(string name = "matchmaker.search")
        {
#if UNITY_WEBGL && !UNITY_EDITOR
            of = new PlayerPrefsStorage(name);
#else
            of = new FileStorage(Path.Combine(Application.persistentDataPath, name));
#endif
        }

        public string Load() => of.Load();
        public void Save(string text) => of.Save(text);
    }

    /// <summary>Keeps a search in PlayerPrefs.</summary>
    public sealed class PlayerPrefsStorage : IStorage
    {
        readonly string key;

        public PlayerPrefsStorage(string key)
        {
            this.key = key;
        }

        public string Load() => PlayerPrefs.HasKey(key) ? PlayerPrefs.GetString(key) : null;

        public void Save(string text)
        {
            if (text == null) PlayerPrefs.DeleteKey(key);
            else PlayerPrefs.SetString(key, text);
            PlayerPrefs.Save();
        }
    }
}
