import { defined } from '../../defined.ts';
import { bare } from '../../purchases/platform.ts';
import { isActive, type Millis } from '../../purchases/purchase.ts';
import type { Asking, Validation, ValidationRequest } from '../store.ts';
import { requestedPeriod } from './billing-period.ts';
import { type Download, nativeDownload } from './download.ts';
import { type Evidence, readEvidence } from './evidence.ts';
import { ineligibleForIntroPrice } from './intro-price.ts';
import { linesOf } from './lines.ts';
import { type Look, lookUp } from './look-up.ts';
import { meantPurchase, type Shown } from './meant-purchase.ts';
import { type Hints, observationOf } from './observe.ts';
import { tellsPresent } from './present-state.ts';
import { apiKeyOf, storeASettings } from './settings.ts';
import { trustOf } from './trust.ts';

type About = Validation['about'];

/** Validates what a client of store_a sends, and shows everything that the store account owns in the application. */
export async function validate(request: ValidationRequest, asking: Asking): Promise<Validation> {
  const settings = storeASettings(asking.settings);
  const trust = trustOf(settings, asking);
  const evidence = readEvidence(request.transaction, trust);
  const about = request.type === 'application' || request.id === settings.bundleId ? 'application' : 'product';
  const wantsDownload = about === 'application' && evidence.download === undefined;
  const look = await lookUp(evidence, { settings, asking, trust, wantsDownload });
  const hints = hintsOf(request, evidence, about);
  const shown = linesOf(evidence, look.account, trust.now).map((line) => ({
    line,
    observation: observationOf(line, hints, apiKeyOf(settings) !== undefined),
  }));
  const meant = meantPurchase(shown, { request, evidence, about, now: trust.now });
  const asked = about === 'product' ? meant : undefined;
  if (look.outage !== undefined && !canAnswer(evidence, { shown, asked, now: trust.now })) throw look.outage;
  return {
    id: about === 'product' ? request.id : settings.bundleId,
    about,
    ...shownContent({ evidence, look, shown, meant }),
  };
}

/** What the request says of its product counts for that product alone. */
function hintsOf(request: ValidationRequest, { productId: signed }: Evidence, about: About): Hints {
  const { type, id, transaction, priceMicros, currency } = request;
  if (type === 'application') return {};
  const named = typeof transaction.id === 'string' ? transaction.id : undefined;
  const productId = about === 'product' ? id : (signed ?? named);
  return defined({ productId, productType: type, priceMicros, currency, period: requestedPeriod(request) });
}

interface Alone {
  readonly shown: readonly Shown[];
  readonly asked: Shown | undefined;
  readonly now: Millis;
}

/** Without Apple there is an answer when nothing is open, or when the product that is asked for is owned at all events. */
function canAnswer({ receiptData, transactions }: Evidence, { shown, asked, now }: Alone): boolean {
  // A signed download tells of no purchase; a receipt that lists none says that there are none.
  if (receiptData === undefined && transactions.length === 0) return false;
  const lines = shown.map(({ line }) => line);
  return tellsPresent(lines, now) || (asked !== undefined && isActive(asked.observation.purchase, now));
}

interface Found {
  readonly evidence: Evidence;
  readonly look: Look;
  readonly shown: readonly Shown[];
  readonly meant: Shown | undefined;
}

function shownContent({ evidence, look, shown, meant }: Found): Omit<Validation, 'id' | 'about'> {
  const download = { ...evidence.download, ...look.download };
  return {
    observations: shown.map(({ observation }) => observation),
    native: nativeOf({ evidence, look, meant, download }),
    ineligibleForIntroPrice: ineligibleForIntroPrice(shown.flatMap(({ line }) => line.transactions)),
    ...defined({
      purchaseId: meant?.observation.purchase.purchaseId,
      warning: look.warning,
      appDownload: versionsOf(download),
    }),
  };
}

/** A receipt is shown whole, as clients know it; a signed transaction by the latest one of its purchase. */
function nativeOf({ evidence, look, meant, download }: Omit<Found, 'shown'> & { readonly download: Download }) {
  const isReceipt = evidence.receiptData !== undefined;
  const native = isReceipt ? (look.record ?? evidence.native) : (meant?.line.latest.native ?? evidence.native);
  return {
    ...nativeDownload(download),
    ...native,
    ...(meant && { transactionId: bare(meant.observation.purchase.transactionId) }),
  };
}

function versionsOf({ originalPurchaseDate: _date, ...versions }: Download): Validation['appDownload'] {
  return Object.keys(versions).length > 0 ? versions : undefined;
}
