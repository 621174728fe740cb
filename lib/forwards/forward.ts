import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';

/** A URL that receives the store notifications of an app as the stores sent them. */
export const Forward = v.object({
  url: v.string(),
  /** The stores whose notifications are forwarded. Default: all. */
  platforms: v.exactOptional(v.array(Platform)),
  /** Forwards the `Authorization` header of the store, such as the token of Google Play's push messages. */
  includesAuthorization: v.exactOptional(v.boolean()),
});
export type Forward = v.InferOutput<typeof Forward>;

/** Maximum number of forwards of an app. */
const maxForwards = 5;

export const Forwards = v.pipe(
  v.array(Forward),
  v.maxLength(maxForwards, `at most ${maxForwards} forwards`),
  v.check((forwards) => new Set(forwards.map(({ url }) => url)).size === forwards.length, 'each URL once'),
);
