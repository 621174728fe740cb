import type { App } from '../apps/app.ts';
import type { Aliases } from '../db/aliases.ts';
import type { FoundPurchase, Recorded } from '../db/purchases.ts';
import type { Deps } from '../deps.ts';
import { noteRecorded } from '../events/note-recorded.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Validation, ValidationRequest } from '../stores/store.ts';

export type Registered = FoundPurchase;

interface Registering {
  readonly app: App;
  readonly event: Recorder;
  readonly deps: Deps;
  /** Whose user claims the purchases; nobody claims without a user in it. */
  readonly request: Pick<ValidationRequest, 'applicationUsername' | 'obfuscatedUsername'>;
  /** What the observations came from; its purchase is always among the event's tags. */
  readonly validation?: Pick<Validation, 'purchaseId' | 'appDownload'>;
}

/** How many purchases of one receipt are written at a time. */
const parallel = 8;

/**
 * Writes what was observed, each purchase in a transaction of its own, and claims it for the request's user. Returns the
 * purchases as the table then has them.
 */
export async function registerObservations(
  observations: readonly Observation[],
  registering: Registering,
): Promise<Registered[]> {
  const recorded: Recorded[] = [];
  for (let start = 0; start < observations.length; start += parallel) {
    const some = observations.slice(start, start + parallel);
    const written = await Promise.all(some.map((observed) => recordOne(observed, registering)));
    recorded.push(...written.filter((result) => result !== undefined));
  }
  const isNewOwner = recorded.some(({ change }) => change && change.claims.length > 0);
  if (recorded.length > 0) await welcome(observations, isNewOwner, registering);
  const { event, validation } = registering;
  noteRecorded(event, recorded, validation?.purchaseId);
  if (validation?.appDownload) event.appDownload(validation.appDownload);
  return recorded.map(({ stored: { known, entitledUsers } }) => ({ purchase: known.purchase, entitledUsers }));
}

/**
 * Remembers the forms in which stores name the user, and hands over what they told of before the user was known. Who is not
 * remembered after a claim was made by a request that came to nothing later.
 */
async function welcome(
  observations: readonly Observation[],
  isNewOwner: boolean,
  { app, deps, request }: Registering,
): Promise<void> {
  const { applicationUsername: username, obfuscatedUsername } = request;
  if (username === undefined || (!isNewOwner && (await deps.aliases.isKnown(app.name, username)))) return;
  const shown = observations.flatMap(({ userTokens }) => userTokens);
  const user = { username, shown, ...(obfuscatedUsername !== undefined && { obfuscatedUsername }) };
  await handOver(app, user, deps);
  await deps.aliases.remember(app.name, user);
  // What a store told of meanwhile did not find the user yet.
  await handOver(app, user, deps);
}

async function handOver(app: App, user: Parameters<Aliases['waitingFor']>[1], deps: Deps): Promise<void> {
  for (const purchaseId of await deps.aliases.waitingFor(app.name, user)) {
    const claimed = { cause: 'validation', named: user.username, strategy: app.strategy, now: deps.now() } as const;
    await deps.purchases.record(app.name, purchaseId, claimed);
  }
}

async function recordOne(observed: Observation, { app, deps, request }: Registering): Promise<Recorded | undefined> {
  const { applicationUsername: username } = request;
  return await deps.purchases.record(app.name, observed.purchase.purchaseId, {
    cause: 'validation',
    observed,
    ...(username !== undefined && { claim: { username, how: 'validation' } }),
    strategy: app.strategy,
    now: deps.now(),
  });
}
