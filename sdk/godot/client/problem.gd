# Why something failed. `code` is of a closed set, `message` for developers, `player_message()` for the player.

var code = ""
var message = ""
# The HTTP status, 0 when there was no answer; the service's own code of the problem, and its text for developers.
var status = 0
var problem = ""
var detail = ""
# Why a search ended, or the player left a party, in the service's words.
var reason = ""
# In how many milliseconds to try again; -1 if that is not known.
var retry_after = -1.0
# A try may have been carried out, and no answer said so.
var unanswered = false

func _init(of_code, of_message):
	code = of_code
	message = of_message

# The service has no such thing, or no longer; a 404 of something in between does not say that.
func is_missing():
	return status == 404 and problem != "" and problem != "notFound"

func player_message():
	match code:
		"offline":
			return "The service cannot be reached. Please check your connection and try again."
		"busy":
			return "Many players are here right now. Please try again in a moment."
		"token":
			return "Please sign in again."
		"forbidden":
			return "You cannot do this."
		"not_found":
			return "This is not there any more."
		"conflict":
			return "This is not possible right now."
		"ended":
			if reason == "declined":
				return "You declined the match."
			if reason == "silent":
				return "You did not accept the match in time."
			if reason == "unserved":
				return "This game mode is not available right now."
			return "The search has ended. Please search again."
		"failed":
			return "No match could be made. Please search again."
		"cancelled":
			return "The search was cancelled."
		"timeout":
			return "No match was found in time. Please search again."
	return "Something went wrong. Please try again later."
