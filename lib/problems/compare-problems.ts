import { type EpochMillis, minuteMs } from '../foundation/time.ts';
import type { AnnouncedProblem } from './alert-state.ts';
import type { Problem } from './describe-problems.ts';

/** A problem that returns within this time has not ended: a share of failures can vary around its limit. */
const minAbsenceMs = 10 * minuteMs;

/** What an alert says, and the problems that are announced after it. */
export interface ProblemChanges {
  /** New problems, and those that have become worse. */
  readonly started: readonly Problem[];
  readonly ended: readonly AnnouncedProblem[];
  readonly announced: readonly AnnouncedProblem[];
}

/** Compares the current problems with the announced ones. */
export function compareProblems(
  previous: readonly AnnouncedProblem[],
  problems: readonly Problem[],
  now: EpochMillis,
): ProblemChanges {
  const previousById = new Map(previous.map((problem) => [problem.id, problem]));
  const started = problems.filter(({ id, tone }) => {
    const known = previousById.get(id);
    return !known || (known.tone === 'warn' && tone === 'bad');
  });
  const present = problems.map(({ id, tone, text }): AnnouncedProblem => {
    const known = previousById.get(id);
    const isWorse = known?.tone === 'warn' && tone === 'bad';
    const announced = known && !isWorse ? known : { id, tone, text, startedAt: known?.startedAt ?? now };
    return { ...announced, presentAt: now };
  });
  const absent = previous.filter(({ id }) => !problems.some((problem) => problem.id === id));
  const ended = absent.filter(({ presentAt }) => now - presentAt >= minAbsenceMs);
  const waiting = absent.filter(({ presentAt }) => now - presentAt < minAbsenceMs);
  return { started, ended, announced: [...present, ...waiting] };
}
