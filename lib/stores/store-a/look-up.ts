import { defined } from '../../defined.ts';
import { ServiceError } from '../../errors.ts';
import type { Asking } from '../store.ts';
import { type Account, findAppTransaction, readAccount } from './account.ts';
import { apiToken } from './api-token.ts';
import { appStoreServer } from './app-store-server.ts';
import { promptly } from './deadline.ts';
import { classicDownload, type Download, signedDownload } from './download.ts';
import type { Evidence } from './evidence.ts';
import { apiKeyOf, type StoreASettings } from './settings.ts';
import type { Trust } from './trust.ts';
import { askVerifyReceipt } from './verify-receipt.ts';
import { warnings } from './warnings.ts';

/** What Apple said of the evidence, or why it said nothing. */
export interface Look {
  readonly account?: Account;
  readonly download?: Download;
  /** The receipt as verifyReceipt tells it. */
  readonly record?: Readonly<Record<string, unknown>>;
  readonly warning?: string;
  /** Why Apple could not be asked, although the settings allow it. */
  readonly outage?: unknown;
}

/** How to ask, and what for. */
export interface Inquiry {
  readonly settings: StoreASettings;
  readonly asking: Asking;
  readonly trust: Trust;
  /** Whether the versions of the download are worth a call of their own. */
  readonly wantsDownload: boolean;
}

type Way = () => Promise<Look>;

/**
 * Asks Apple by the best way that settings and evidence allow, and by the next one while Apple cannot be reached. Throws
 * `InvalidPayload` for what Apple does not know, and `InternalError` for settings that Apple refuses.
 */
export async function lookUp(evidence: Evidence, inquiry: Inquiry): Promise<Look> {
  const ways = waysToAsk(evidence, inquiry);
  let outage: unknown;
  for (const [attempt, ask] of ways.entries()) {
    try {
      const look = await ask();
      return attempt === 0 ? look : { ...look, warning: warnings.backup };
    } catch (thrown) {
      if (!isOutage(thrown)) throw thrown;
      outage = thrown;
    }
  }
  if (!evidence.isVerified) throw outage ?? unverifiable();
  if (outage !== undefined) return { outage, warning: warnings.outage };
  return apiKeyOf(inquiry.settings) ? {} : { warning: warnings.signatureOnly };
}

function waysToAsk(evidence: Evidence, inquiry: Inquiry): Way[] {
  const fetch = promptly(inquiry.asking.fetch);
  const asking = { ...inquiry, asking: { ...inquiry.asking, fetch } };
  return [serverWay(evidence, asking), receiptWay(evidence, asking)].filter((way) => way !== undefined);
}

function serverWay(evidence: Evidence, { settings, asking, trust, wantsDownload }: Inquiry): Way | undefined {
  const { customerId: id, environment } = evidence;
  const key = apiKeyOf(settings);
  if (!key || id === undefined) return undefined;
  return async () => {
    const server = appStoreServer(asking.fetch, apiToken(key, settings.bundleId, trust.now));
    const [account, download] = await Promise.all([
      readAccount({ id, ...defined({ environment }) }, server, trust),
      wantsDownload ? findAppTransaction(id, { server, trust, environment: environment ?? 'Production' }) : undefined,
    ]);
    if (!account && evidence.transactions.length > 0) throw unknownTransaction();
    return defined({
      account,
      download: download && signedDownload(download),
      warning: account?.isComplete === false ? warnings.cutShort : undefined,
    });
  };
}

function receiptWay(evidence: Evidence, { settings, asking, trust }: Inquiry): Way | undefined {
  const { receiptData, isVerified } = evidence;
  const { sharedSecret } = settings;
  if (sharedSecret === undefined || receiptData === undefined) return undefined;
  return async () => {
    const question = { receiptData, isVerified, sharedSecret, fetch: asking.fetch };
    const { account, record } = await askVerifyReceipt(question, trust);
    return { account, record, download: classicDownload(record) };
  };
}

const isOutage = (thrown: unknown): boolean => thrown instanceof ServiceError && thrown.code === 'ConnectionFailed';

const unknownTransaction = (): ServiceError =>
  new ServiceError('InvalidPayload', 'Apple does not know the transaction of this receipt.');

const unverifiable = (): ServiceError =>
  new ServiceError(
    'InvalidPayload',
    "A receipt of iOS 6 (transactionReceipt) carries no signature that can be checked without Apple's verifyReceipt, " +
      'which needs a shared secret in the store_a settings. Send appStoreReceipt or jwsRepresentation instead.',
  );
