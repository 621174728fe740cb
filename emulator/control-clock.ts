import * as v from 'valibot';
import { addPeriod, formatTime, Period } from './calendar.ts';
import { controlError } from './control-error.ts';
import { advanceStores, type Emulator } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseBody } from './parse-body.ts';

const Timestamp = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'expected a timestamp such as 2027-01-01T00:00:00Z'),
  v.transform(Date.parse),
);

const MoveClockBody = v.pipe(
  v.strictObject({ advance: v.exactOptional(Period), set: v.exactOptional(Timestamp) }),
  v.check(({ advance, set }) => (advance === undefined) !== (set === undefined), 'expected either advance or set'),
);

// The stores' certificates are valid one day longer on both sides.
const minTime = Date.parse('2000-01-02T00:00:00Z');
const maxTime = Date.parse('2099-12-30T00:00:00Z');

/**
 * `GET /control/clock`: runs everything that is due. Returns the time of the stores, and the time of the next
 * transition or notification if there is one.
 */
export function getClock(emulator: Emulator): object {
  const nextDueTime = advanceStores(emulator);
  return {
    now: formatTime(emulator.clock.now()),
    ...(nextDueTime !== undefined && { nextDueTime: formatTime(nextDueTime) }),
  };
}

/**
 * `POST /control/clock`: moves the clock and runs everything that falls due. Throws 400 for an earlier time, and if the
 * clock is fixed.
 */
export function moveClock(emulator: Emulator, call: HttpRequest): object {
  const { advance, set } = parseBody(MoveClockBody, call);
  const { clock } = emulator;
  if (clock.isFixed)
    throw controlError(400, 'The clock stays at the time of this machine: the real stores of other apps need it.');
  const target = advance === undefined ? (set ?? clock.now()) : addPeriod(clock.now(), advance);
  if (!(target >= minTime && target <= maxTime))
    throw controlError(400, 'The clock must stay between the years 2000 and 2099.');
  if (target < clock.now())
    throw controlError(400, `The clock cannot be moved back. Its time is ${formatTime(clock.now())}.`);
  clock.set(target);
  return getClock(emulator);
}
