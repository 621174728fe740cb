/**
 * Puts a `Date` in place of the real one that is as many milliseconds away from it as `offsetMs` says whenever the present
 * time is asked.
 */
export function overrideDate(offsetMs: () => number): void {
  const RealDate = Date;
  const now = () => RealDate.now() + Math.round(offsetMs());
  const MovedDate = new Proxy(RealDate, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, property, receiver) => (property === 'now' ? now : Reflect.get(target, property, receiver)),
  });
  RealDate.prototype.constructor = MovedDate;
  globalThis.Date = MovedDate;
}
