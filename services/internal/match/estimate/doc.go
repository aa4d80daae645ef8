// Package estimate says how long tickets wait: as long as tickets like them did lately.
//
// Tickets are alike when the same pools of the same configs have them, so also when they wait in the same queues. A
// Book follows some of a project's tickets. For each class of tickets it counts at which ages they waited, and at which
// they were matched (evidence.go). From this it gets the Kaplan-Meier curve: which part of tickets still waits at each
// age (curve.go). A ticket that leaves has waited until then, and one that is seen later from then on. No ticket must
// have waited to the end for the curve to show what is so now: observations fade, over times from a minute and a half
// to an hour and a half. The shortest time with enough of them is used.
//
// An estimate is a range: four of five tickets are matched within it. No estimate is made where
//
//   - too little was seen for that to be so (Forecast.Range),
//   - what was seen most lately contradicts what was seen before: conditions have just changed
//     (evidence.contradictedBy),
//   - more than one ticket of ten waits for longer than any that was seen.
//
// Forecasts are tried on the tickets that are followed: trial.go. So the ranges are right on average also where
// conditions change all the time, or tickets are matched in bursts.
//
// What it cannot know: a change that is to come; and it assumes that the tickets that leave would have waited as long
// as others. Where the tickets with the worst prospects leave, ranges are too short for them.
package estimate
