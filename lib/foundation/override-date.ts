import type { EpochMillis } from './time.ts';

/** Member of the global object. A symbol of the registry, because each bundle can have a copy of this file. */
const wallTimeKey = Symbol.for('claimcheck.wallTime');

/** Returns the time of this machine, even if the global `Date` is replaced. */
export const getWallTime = (): EpochMillis =>
  (globalThis as { [wallTimeKey]?: () => EpochMillis })[wallTimeKey]?.() ?? Date.now();

/** Replaces the global `Date` with one whose current time is shifted by `offsetMs()` milliseconds. */
export function overrideDate(offsetMs: () => number): void {
  const RealDate = Date;
  Object.assign(globalThis, { [wallTimeKey]: RealDate.now });
  const now = () => RealDate.now() + Math.round(offsetMs());
  const ShiftedDate = new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, property, receiver) => (property === 'now' ? now : Reflect.get(target, property, receiver)),
  });
  RealDate.prototype.constructor = ShiftedDate;
  globalThis.Date = ShiftedDate;
}
