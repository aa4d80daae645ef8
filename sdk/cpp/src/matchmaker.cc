#include "matchmaker/matchmaker.h"

#include <cstdio>

#include "connection.h"

namespace matchmaker {
namespace {

using Created = std::function<void(const Result<std::string>&)>;
using Found = std::function<void(const Result<std::string>&)>;
using Goes = bool (*)(const api::Ticket&);

Connection::SendOptions in(Life life, Life tries = nullptr) {
  Connection::SendOptions o;
  o.life = std::move(life);
  o.tries = std::move(tries);
  return o;
}

bool goesOn(const api::Ticket& t) { return !t.assignment || t.assignment->error.empty(); }
bool any(const api::Ticket&) { return true; }

/** The first ticket of a list that is as asked for; empty if there is none. */
void find(Connection& c, const api::GetTicketOptions& o, Life life, Goes goes, const Found& done) {
  c.ask<Json>(api::getTicket(o), in(std::move(life)), [done, goes](const Result<Json>& r) {
    api::TicketList list;
    read(r.value, list);
    for (const api::Ticket& t : list.tickets) {
      if (goes(t)) return done({t.id, {}});
    }
    done({"", r.error});
  });
}

/** Creates a ticket. A create whose answer was lost makes one ticket, by its key, which is the player's own. */
void create(const std::shared_ptr<Connection>& c, const api::CreateTicket& body, const Life& life, const Life& tries,
            const Created& done) {
  std::string key;
  for (int i = 0; i < 4; i++) {
    char part[12];
    std::snprintf(part, sizeof part, "%08x", static_cast<unsigned>(c->random() * 0x1p32));
    key += part;
  }
  const Saved before{c->load().ticket, ""};
  c->save({"", key});
  const auto made = [c, key, done](const std::string& ticket) {
    c->replace({"", key}, {ticket, ""});
    done({ticket, {}});
  };
  api::CreateTicketOptions o;
  o.idempotencyKey = "\"" + key + "\"";
  c->ask<Json>(api::createTicket(body, o).as<Json>(), in(life, tries), [=](const Result<Json>& r) {
    const std::string& id = r.value["id"].string();
    if (!r.error && id.empty()) {
      return done({"", Error::of(Code::Unexpected, "the answer to the create has no id")});
    }
    if (!r.error) return made(id);
    if (!r.error.unanswered) {
      c->replace({"", key}, before);  // the player may have that ticket still
      return done({"", r.error});
    }
    api::GetTicketOptions byKey;
    byKey.key = key;
    find(*c, byKey, life, any, [=](const Result<std::string>& found) {
      if (!found.error && !found.value.empty()) return made(found.value);
      Error e = r.error;
      e.unanswered = static_cast<bool>(found.error);
      if (!found.error) c->replace({"", key}, before);
      done({"", e});
    });
  });
}

/** The player's newest ticket to go on with, if the project lists them. */
void newest(const std::shared_ptr<Connection>& c, const Found& done) {
  if (c->player.empty()) return done({});
  api::GetTicketOptions o;
  o.player = c->player;
  find(*c, o, c->always, goesOn, [done](const Result<std::string>& r) {
    done(r.error.problem == "ticketsNotListed" ? Result<std::string>() : r);
  });
}

/** The ticket to go on with; empty if there is none. */
void left(const std::shared_ptr<Connection>& c, const Saved& saved, const Found& done) {
  api::GetTicketOptions o;
  if (!saved.ticket.empty()) {
    o.id = saved.ticket;
    c->ask<Json>(api::getTicket(o), in(c->always), [=](const Result<Json>& r) {
      api::Ticket t;
      read(r.value, t);
      if (!r.error && goesOn(t)) return done({t.id, {}});
      if (r.error && !r.error.missing()) return done({"", r.error});
      newest(c, done);
    });
  } else if (!saved.key.empty()) {
    o.key = saved.key;
    find(*c, o, c->always, any, [=](const Result<std::string>& r) {
      if (r.error || !r.value.empty()) return done(r);
      newest(c, done);
    });
  } else {
    newest(c, done);
  }
}

class FileStorage final : public Storage {
 public:
  explicit FileStorage(std::string path) : path_(std::move(path)), fresh_(path_ + ".new") {}

  std::string load() override {
    std::string text;
    char part[512];
    std::FILE* f = std::fopen(path_.c_str(), "rb");
    if (f == nullptr) f = std::fopen(fresh_.c_str(), "rb");
    if (f != nullptr) {
      for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, f)) > 0 && text.size() < 1 << 16;) text.append(part, n);
      std::fclose(f);
    }
    return text;
  }

  /**
   * A file that cannot be written is no reason to end a search. A new text is written beside the last one before that is
   * removed, so that a crash leaves one of them.
   */
  void save(const std::string& text) override {
    if (text.empty()) {
      std::remove(fresh_.c_str());
    } else {
      std::FILE* f = std::fopen(fresh_.c_str(), "wb");
      if (f == nullptr) return;
      const bool whole = std::fwrite(text.data(), 1, text.size(), f) == text.size();
      if (std::fclose(f) != 0 || !whole) return;
    }
    std::remove(path_.c_str());  // on Windows, rename replaces no file
    if (!text.empty()) std::rename(fresh_.c_str(), path_.c_str());
  }

 private:
  std::string path_;
  std::string fresh_;
};

}  // namespace

std::unique_ptr<Storage> fileStorage(std::string path) { return std::make_unique<FileStorage>(std::move(path)); }

Matchmaker::Matchmaker(Options o) : connection_(std::make_shared<Connection>(std::move(o))) {}
Matchmaker::~Matchmaker() { connection_->close(); }

const Error& Matchmaker::error() const { return connection_->error; }
void Matchmaker::pump(int wait) {
  const auto c = connection_;  // a callback may destroy the Matchmaker
  c->pump(wait);
}

std::shared_ptr<Search> Matchmaker::search(const SearchOptions& o) {
  api::CreateTicket body;
  carry(o, body);
  if (!o.queues.empty()) body.queues = o.queues;
  if (!o.players.empty()) body.players = o.players;
  const auto c = connection_;
  const auto begin = [c, body](const Life& life, const Life& tries, const Created& done) {
    c->whoIs([=](const Error& e) {
      if (e) return done({"", e});
      create(c, body, life, tries, done);
    });
  };
  return newSearch(c, begin, o.timeout);
}

void Matchmaker::restore(std::function<void(const Result<std::shared_ptr<Search>>&)> done) {
  const auto c = connection_;
  c->whoIs([=](const Error& e) {
    if (e) return done({nullptr, e});
    const Saved saved = c->load();
    left(c, saved, [=](const Result<std::string>& r) {
      if (!r.error) c->replace(saved, {r.value, ""});
      if (r.error || r.value.empty()) return done({nullptr, r.error});
      const auto begin = [id = r.value](const Life&, const Life&, const Created& known) { known({id, {}}); };
      done({newSearch(c, begin, SearchOptions().timeout), {}});
    });
  });
}

void Matchmaker::forget() { connection_->save({}); }

void Matchmaker::createParty(const MemberOptions& o, std::int64_t size, OnParty done) {
  api::CreateParty body;
  carry(o, body);
  body.ready = o.ready;
  if (size > 0) body.size = size;
  const auto c = connection_;
  c->whoIs([=](const Error& e) {
    if (e) return done({nullptr, e});
    c->ask<api::Party>(api::createParty(body), in(c->always), [=](const Result<api::Party>& r) {
      if (!r.error) return done({newParty(c, r.value), {}});
      if (!r.error.unanswered) return done({nullptr, r.error});
      c->ask<api::Party>(api::myParty(), in(c->always), [=](const Result<api::Party>& own) {
        const api::Party& p = own.value;
        if (own.error || p.leader != c->player || p.members.size() != 1) return done({nullptr, r.error});
        done({newParty(c, p), {}});  // its answer was lost
      });
    });
  });
}

void Matchmaker::joinParty(const std::string& code, const MemberOptions& o, OnParty done) {
  api::JoinParty body;
  carry(o, body);
  body.code = code;
  body.ready = o.ready;
  const auto c = connection_;
  c->whoIs([=](const Error& e) {
    if (e) return done({nullptr, e});
    c->ask<api::Party>(api::joinParty(body), in(c->always), [=](const Result<api::Party>& r) {
      done({r.error ? nullptr : newParty(c, r.value), r.error});
    });
  });
}

void Matchmaker::party(OnParty done) {
  const auto c = connection_;
  c->whoIs([=](const Error& e) {
    if (e) return done({nullptr, e});
    c->ask<api::Party>(api::myParty(), in(c->always), [=](const Result<api::Party>& r) {
      if (r.error.missing()) return done({});
      done({r.error ? nullptr : newParty(c, r.value), r.error});
    });
  });
}

void Matchmaker::suspend() {
  connection_->suspended = true;
  connection_->wake();
}

void Matchmaker::resume() {
  connection_->suspended = false;
  connection_->wake();
}

void Matchmaker::sendAny(AnyRequest request, std::function<void(const Result<Json>&)> done) {
  if (!done) done = [](const Result<Json>&) {};
  connection_->send(std::move(request), in(connection_->always), std::move(done));
}

}  // namespace matchmaker
