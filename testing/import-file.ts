import pMap from 'p-map';
import type { LocalService } from '../local/start-local.ts';
import { buildBasicAuth } from './call.ts';
import { callLocalControl, type Json } from './call-local.ts';
import { waitFor } from './wait-for.ts';

/** A purchase at the emulator's stores with its row in an import file. */
export interface ImportablePurchase {
  readonly user: string;
  readonly platform: string;
  /** Values of the row by column. */
  readonly row: Readonly<Record<string, string>>;
  /** Id at the emulator. */
  readonly id: string;
}

type Service = Pick<LocalService, 'emulatorUrl' | 'baseUrl' | 'appName' | 'publicKey'>;

const subscription = { productId: 'premium', type: 'paid subscription' } as const;
const oneTime = { productId: 'full_version', type: 'non consumable' } as const;

/** Few are of Braintree, because its purchases need a validation before they exist. */
const kinds = [
  { platform: 'store_a', ...subscription },
  { platform: 'store_b', ...subscription },
  { platform: 'store_c', ...subscription },
  { platform: 'processor_a', ...subscription },
  { platform: 'processor_b', ...subscription },
  { platform: 'store_a', ...oneTime, form: 'receipt' },
  { platform: 'store_b', productId: 'coins', type: 'consumable' },
  { platform: 'store_c', ...oneTime },
  { platform: 'service_processor_a', ...subscription },
  { platform: 'store_a', ...oneTime },
  { platform: 'store_b', ...oneTime },
  { platform: 'processor_a', ...oneTime },
  { platform: 'processor_b', ...oneTime },
  { platform: 'store_a', ...subscription, form: 'receipt' },
  { platform: 'store_b', ...subscription },
  { platform: 'store_c', ...subscription },
  { platform: 'service_processor_a', ...oneTime },
  { platform: 'store_a', ...subscription },
  { platform: 'store_b', ...subscription },
  { platform: 'store_c', ...oneTime },
] as const;

/** Makes purchases of all stores and kinds, each by its own user, and returns their rows. */
export const buyImportablePurchases = async (service: Service, count: number): Promise<ImportablePurchase[]> =>
  await pMap(
    Array.from({ length: count }, (_, index) => index),
    async (index) => {
      const kind = kinds[index % kinds.length] as (typeof kinds)[number];
      const order = { ...kind, applicationUsername: `user-${index}` };
      // On a busy machine, a connection can be closed while it is reused. A purchase without a row does no harm.
      return await buyImportablePurchase(service, order).catch(async () => await buyImportablePurchase(service, order));
    },
    { concurrency: 4 },
  );

interface Order {
  readonly platform: string;
  readonly productId: string;
  readonly type: string;
  readonly form?: string;
  readonly applicationUsername: string;
}

async function buyImportablePurchase(service: Service, order: Order): Promise<ImportablePurchase> {
  const { platform, applicationUsername: user, productId } = order;
  const { validate, ...purchase } = await callLocalControl(service, '/purchases', order);
  const evidence = await toEvidence(service, order, { purchase, validate });
  return { user, platform, id: purchase.id, row: { platform, user, productId, ...evidence } };
}

async function toEvidence(
  service: Service,
  { platform, form }: Order,
  { purchase, validate }: { readonly purchase: Json; readonly validate: Json },
): Promise<Readonly<Record<string, string>>> {
  switch (platform) {
    case 'store_a':
      return form === 'receipt'
        ? { receipt: validate.transaction.appStoreReceipt }
        : { originalTransactionId: purchase.id };
    case 'store_c':
      return validate.license;
    case 'processor_b':
      return { token: await chargeNonce(service, validate) };
    default:
      return { token: purchase.id };
  }
}

/**
 * Charges a nonce by a validation of the demo app, because the vault does not have a purchase before. A repeated
 * validation charges nothing, so it is repeated if the busy service does not respond in time.
 */
async function chargeNonce({ baseUrl, appName, publicKey }: Service, validate: Json): Promise<string> {
  const headers = buildBasicAuth(appName, publicKey);
  const validateNonce = async (): Promise<string | undefined> => {
    const response = await fetch(`${baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
    return ((await response.json()) as Json).data?.collection?.[0]?.purchaseId;
  };
  const purchaseId = await waitFor('a charged nonce', async () => await validateNonce().catch(() => undefined));
  return purchaseId ?? '';
}

/** Formats rows as CSV with the columns of all rows. */
export function toCsv(rows: readonly Readonly<Record<string, string>>[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const quote = (text = '') => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((values) => `${values.map(quote).join(',')}\r\n`)
    .join('');
}
