import * as v from 'valibot';
import { addPeriod, Period } from './calendar.ts';
import { controlError } from './control-error.ts';
import { advanceStores, type Emulator } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseBody } from './parse-body.ts';

const Moment = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'expected a moment such as 2027-01-01T00:00:00Z'),
  v.transform(Date.parse),
);

const MoveClockBody = v.pipe(
  v.strictObject({ advance: v.exactOptional(Period), set: v.exactOptional(Moment) }),
  v.check(({ advance, set }) => (advance === undefined) !== (set === undefined), 'expected either advance or set'),
);

// The certificates of the stores are valid a day longer on both sides.
const earliest = Date.parse('2000-01-02T00:00:00Z');
const latest = Date.parse('2099-12-30T00:00:00Z');

/** The time that the stores live in. */
export const getClock = (emulator: Emulator): object => ({ now: formatNow(emulator) });

const formatNow = ({ clock }: Emulator): string => new Date(clock.now()).toISOString();

/** Moves the clock and plays what happens until then. Refuses to go back, which would undo nothing. */
export function moveClock(emulator: Emulator, call: HttpRequest): object {
  const { advance, set } = parseBody(MoveClockBody, call);
  const { clock } = emulator;
  const target = advance === undefined ? (set ?? clock.now()) : addPeriod(clock.now(), advance);
  if (!(target >= earliest && target <= latest))
    throw controlError(400, 'The clock only goes from the year 2000 to 2099.');
  if (target < clock.now()) throw controlError(400, `The clock only goes forward, and it is ${formatNow(emulator)}.`);
  clock.set(target);
  advanceStores(emulator);
  return getClock(emulator);
}
