import type { Observation } from '../../purchases/observation.ts';
import { isExpired } from '../../purchases/purchase.ts';
import type { Asking, Validation, ValidationRequest } from '../store.ts';
import { withKnownRefunds } from './known-refunds.ts';
import { type Looked, look, type Question, type Seen } from './look.ts';
import { withNewestKeys } from './newest-keys.ts';
import { questionOf } from './receipt.ts';
import { type Session, sessionOf } from './session.ts';
import { ticketError } from './ticket.ts';

/** Asks Microsoft what the customer owns of the product; without the key for that, throws `NeedMoreData` with a ticket. */
export async function validate(request: ValidationRequest, asking: Asking): Promise<Validation> {
  const session = sessionOf(asking);
  const looked = await lookEverywhere(session, questionOf(request, session));
  if (looked.kind === 'needs') throw await ticketError(session, looked.service, request);
  const about = bestOf(looked.seen);
  return {
    id: request.id,
    about: 'product',
    observations: await withWhatIsKnown(looked.seen, { session, asking }),
    ...(about && { purchaseId: about.observation.purchase.purchaseId }),
    native: about?.native ?? {},
    ineligibleForIntroPrice: [],
  };
}

async function withWhatIsKnown(
  seen: readonly Seen[],
  { session, asking }: { readonly session: Session; readonly asking: Asking },
): Promise<Observation[]> {
  const observations = seen.map(({ observation }) => observation);
  return await withNewestKeys(await withKnownRefunds(observations, asking), { session, asking });
}

/** In retail first; testers own what they own in the application's sandbox, if it has one. */
async function lookEverywhere(session: Session, question: Question): Promise<Looked> {
  const looked = await look(session, question);
  const { sandboxId } = session.settings;
  if (looked.kind === 'needs' || looked.seen.length > 0 || sandboxId === undefined) return looked;
  return await look(session, { ...question, sandboxId });
}

/** The one to speak of, when the customer bought the product more than once: what still counts, then the latest. */
const bestOf = (seen: readonly Seen[]): Seen | undefined =>
  [...seen].sort((a, b) => worth(b.observation) - worth(a.observation) || startOf(b) - startOf(a))[0];

const worth = ({ purchase, asOf }: Observation): number => (isExpired(purchase, asOf) ? 0 : 1);

const startOf = ({ observation }: Seen): number => observation.purchase.purchaseDate ?? 0;
