package notify_test

import (
	"testing"

	"matchmaker.dev/services/internal/platform/notify"
)

func TestNotificationsAreMergedUntilReceived(t *testing.T) {
	s := notify.New()
	received := func() bool {
		select {
		case <-s.C():
			return true
		default:
			return false
		}
	}
	if received() {
		t.Error("a new signal notifies")
	}
	for range 2 {
		s.Notify()
		s.Notify()
		if !received() {
			t.Error("the notification is lost")
		}
		if received() {
			t.Error("two notifications are not merged")
		}
	}
}

func TestZeroSignalNotifiesNobody(t *testing.T) {
	var s notify.Signal
	s.Notify()
	select {
	case <-s.C():
		t.Error("the zero signal notifies")
	default:
	}
}
