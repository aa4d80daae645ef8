using UnrealBuildTool;

public class Matchmaking : ModuleRules
{
	public Matchmaking(ReadOnlyTargetRules Target) : base(Target)
	{
		// The client knows nothing of Unreal: its files are compiled one by one, without Unreal's macros.
		PCHUsage = PCHUsageMode.NoPCHs;
		bUseUnity = false;
		PublicDependencyModuleNames.AddRange(new string[] { "Core", "CoreUObject", "Engine" });
		PrivateDependencyModuleNames.AddRange(new string[] { "HTTP", "Sockets" });
	}
}
