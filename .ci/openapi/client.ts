// Makes the calls of the README with the generated client: validate a receipt, then read the purchases of the customer.
import createClient from 'openapi-fetch';
import type { components, paths } from './.generated/typescript/schema.d.ts';

declare const process: { readonly env: Readonly<Record<'API' | 'APP' | 'PUBLIC' | 'SECRET' | 'RECEIPT', string>> };
const { API, APP, PUBLIC, SECRET, RECEIPT } = process.env;

const connect = (key: string) =>
  createClient<paths>({ baseUrl: API, headers: { Authorization: `Basic ${btoa(`${APP}:${key}`)}` } });

const { id, type, transaction }: components['schemas']['ValidationRequest'] = JSON.parse(RECEIPT);
if (transaction.type !== 'apple-sk2') throw new Error(`The receipt has the type ${transaction.type}.`);

const validated = await connect(PUBLIC).POST('/v1/validate', {
  body: {
    id,
    type,
    transaction: { type: 'apple-sk2', jwsRepresentation: transaction.jwsRepresentation },
    additionalData: { applicationUsername: 'typescript' },
  },
});
if (!validated.data?.ok) throw new Error(JSON.stringify(validated.data ?? validated.error));
const [purchase] = validated.data.data.collection;
if (purchase?.id !== 'typescript' || purchase.isExpired) throw new Error(JSON.stringify(validated.data));

const read = await connect(SECRET).GET('/v3/customers/{applicationUsername}/purchases', {
  params: { path: { applicationUsername: 'typescript' } },
});
const stored = read.data?.purchases['store_a:typescript'];
if (stored?.purchaseId !== `store_a:${purchase.purchaseId}`) throw new Error(JSON.stringify(read.error ?? read.data));

const wrong = await connect(SECRET).GET('/v3/purchases', { params: { query: { limit: 0 } } });
if (wrong.error?.code !== 'InvalidPayload') throw new Error(JSON.stringify(wrong.data));
console.log('The TypeScript client validated a receipt and read the purchases.');
