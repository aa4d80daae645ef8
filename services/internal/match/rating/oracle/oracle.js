// Reads matches, one a line, and writes the ratings after each: {model, settings, teams: [{players, rank, score}]}.
import readline from 'node:readline';
import erfc from '@stdlib/math-base-special-erfc';
import * as openskill from 'openskill';
import * as wengLinModels from 'openskill/models';
import { TrueSkill } from 'ts-trueskill';
import glicko2 from 'glicko2';

const models = {
  plackettLuce: wengLinModels.plackettLuce,
  bradleyTerry: wengLinModels.bradleyTerryFull,
  thurstoneMosteller: wengLinModels.thurstoneMostellerFull,
};

function wengLin({ model, settings: s, teams }) {
  const options = { model: models[model], mu: s.Mean, sigma: s.Deviation, beta: s.Beta, tau: s.Tau, epsilon: s.Draw };
  const ratings = teams.map((t) => t.Players.map((p) => ({ mu: p.Mean, sigma: p.Deviation })));
  if (s.Margin === null) {
    options.rank = teams.map((t) => t.Rank);
  } else {
    options.score = teams.map((t) => t.Score);
    options.margin = s.Margin;
  }
  return {
    Ratings: openskill.rate(ratings, options).map((t) => t.map((p) => ({ Mean: p.mu, Deviation: p.sigma }))),
    Odds: openskill.predictWin(ratings, options),
  };
}

// The package's own distribution function is exact to seven digits only.
const normal = {
  cdf: (x) => erfc(-x / Math.SQRT2) / 2,
  pdf: (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI),
  ppf: (p) => {
    let [low, high] = [-10, 10];
    for (let i = 0; i < 200; i++) {
      const middle = (low + high) / 2;
      if (normal.cdf(middle) < p) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  },
};

function trueSkill({ settings: s, teams }) {
  const env = new TrueSkill(s.Mean, s.Deviation, s.Beta, s.Tau, s.Draw, normal);
  const ratings = teams.map((t) => t.Players.map((p) => env.createRating(p.Mean, p.Deviation)));
  const after = env.rate(ratings, teams.map((t) => t.Rank));
  return {
    Ratings: after.map((t) => t.map((p) => ({ Mean: p.mu, Deviation: p.sigma }))),
    Odds: teams.length === 2 ? [env.winProbability(...ratings), env.winProbability(ratings[1], ratings[0])] : null,
  };
}

function glicko({ settings: s, teams }) {
  const all = new glicko2.Glicko2({ tau: s.Tau, rating: s.Mean, rd: s.Deviation, vol: s.Volatility });
  const players = teams.map(({ Players: [p] }) => all.makePlayer(p.Mean, p.Deviation, p.Volatility));
  const games = [];
  teams.forEach((a, i) => teams.slice(i + 1).forEach((b, j) => {
    const outcome = a.Rank < b.Rank ? 1 : a.Rank === b.Rank ? 0.5 : 0;
    games.push([players[i], players[i + 1 + j], outcome]);
  }));
  const odds = teams.length === 2 ? [all.predict(...players), all.predict(players[1], players[0])] : null;
  all.updateRatings(games);
  return {
    Ratings: players.map((p) => [{ Mean: p.getRating(), Deviation: p.getRd(), Volatility: p.getVol() }]),
    Odds: odds,
  };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const match = JSON.parse(line);
  const rate = { trueSkill, glicko2: glicko }[match.model] ?? wengLin;
  console.log(JSON.stringify(rate(match)));
}
