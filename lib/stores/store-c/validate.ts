import type { Observation } from '../../purchases/observation.ts';
import { isExpired } from '../../purchases/purchase.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { withKnownRefunds } from './known-refunds.ts';
import { type LookupRequest, type LookupResult, lookUpProduct, type ObservedItem } from './lookup.ts';
import { parseLookupRequest } from './lookup-request.ts';
import { withNewestKeys } from './newest-keys.ts';
import { createTicketError } from './service-ticket.ts';
import { createSession, type MicrosoftSession } from './session.ts';

/** Asks Microsoft what the customer owns of the product; without the key for that, throws `NeedMoreData` with a ticket. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const session = createSession(context);
  const lookup = await lookUpRetailThenSandbox(session, parseLookupRequest(request, session));
  if (lookup.kind === 'needs') throw await createTicketError(session, lookup.service, request);
  const requested = chooseBest(lookup.observed);
  return {
    id: request.id,
    scope: 'product',
    observations: await withStoredKnowledge(lookup.observed, { session, asking: context }),
    ...(requested && { purchaseId: requested.observation.purchase.purchaseId }),
    nativeTransaction: requested?.nativeTransaction ?? {},
    ineligibleForIntroPrice: [],
  };
}

async function withStoredKnowledge(
  seen: readonly ObservedItem[],
  { session, asking: context }: { readonly session: MicrosoftSession; readonly asking: StoreContext },
): Promise<Observation[]> {
  const observations = seen.map(({ observation }) => observation);
  return await withNewestKeys(await withKnownRefunds(observations, context), { session, asking: context });
}

/** In retail first; testers own what they own in the application's sandbox, if it has one. */
async function lookUpRetailThenSandbox(session: MicrosoftSession, question: LookupRequest): Promise<LookupResult> {
  const lookup = await lookUpProduct(session, question);
  const { sandboxId } = session.settings;
  if (lookup.kind === 'needs' || lookup.observed.length > 0 || sandboxId === undefined) return lookup;
  return await lookUpProduct(session, { ...question, sandboxId });
}

/** The one to speak of, when the customer bought the product more than once: what still counts, then the latest. */
const chooseBest = (seen: readonly ObservedItem[]): ObservedItem | undefined =>
  [...seen].sort((a, b) => rank(b.observation) - rank(a.observation) || getStart(b) - getStart(a))[0];

const rank = ({ purchase, asOf }: Observation): number => (isExpired(purchase, asOf) ? 0 : 1);

const getStart = ({ observation }: ObservedItem): number => observation.purchase.purchaseDate ?? 0;
