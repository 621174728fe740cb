/** Replaces the global `Date` with one whose current time is shifted by `offsetMs()` milliseconds. */
export function overrideDate(offsetMs: () => number): void {
  const RealDate = Date;
  const now = () => RealDate.now() + Math.round(offsetMs());
  const ShiftedDate = new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, property, receiver) => (property === 'now' ? now : Reflect.get(target, property, receiver)),
  });
  RealDate.prototype.constructor = ShiftedDate;
  globalThis.Date = ShiftedDate;
}
