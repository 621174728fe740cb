import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { errorCodes } from '../../lib/foundation/errors.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import * as appStore from '../../lib/stores/app-store/settings.ts';
import * as braintree from '../../lib/stores/braintree/settings.ts';
import * as googlePlay from '../../lib/stores/google-play/settings.ts';
import * as microsoftStore from '../../lib/stores/microsoft-store/settings.ts';
import * as stripe from '../../lib/stores/stripe/settings.ts';
import { listItems, listTableRows, readDocument, readSection, readSnippet } from '../../testing/documents.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

interface StorePage {
  readonly platform: Platform;
  readonly file: string;
  readonly folder: string;
  /** Fields of the settings schema. */
  readonly fields: readonly string[];
  readonly parse: (settings: unknown) => object;
  /** Settings of a different app or account. */
  readonly foreignSettings: object;
  /** Fields of `transaction` that make evidence name a purchase the store does not have. */
  readonly unknown: object;
  readonly accountProblems: readonly string[];
  /** Product ids in the format of the store. */
  readonly createProductId?: (number: number) => string;
}

const pages: readonly StorePage[] = [
  {
    platform: 'store_a',
    file: 'docs/stores/app-store.md',
    folder: 'app-store',
    fields: Object.keys(appStore.AppStoreSettings.pipe[0].entries),
    parse: appStore.parseEnteredSettings,
    foreignSettings: { bundleId: 'com.other' },
    unknown: { jwsRepresentation: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln' },
    accountProblems: ['unreleased'],
  },
  {
    platform: 'store_b',
    file: 'docs/stores/google-play.md',
    folder: 'google-play',
    fields: Object.keys(googlePlay.GooglePlaySettings.entries),
    parse: googlePlay.parseEnteredSettings,
    foreignSettings: { packageName: 'com.other' },
    unknown: { purchaseToken: 'unknown', receipt: '', signature: '' },
    accountProblems: ['no-access', 'api-disabled', 'key-deleted'],
  },
  {
    platform: 'store_c',
    file: 'docs/stores/microsoft-store.md',
    folder: 'microsoft-store',
    fields: Object.keys(microsoftStore.MicrosoftStoreSettings.entries),
    parse: microsoftStore.parseEnteredSettings,
    foreignSettings: { clientId: 'another-client' },
    unknown: { storeId: '9NBLGGH5ZZZZ' },
    accountProblems: ['secret-expired', 'not-associated'],
    createProductId: (number) => `9NBLGGH5D${String(number).padStart(3, '0')}`,
  },
  {
    platform: 'processor_a',
    file: 'docs/stores/stripe.md',
    folder: 'stripe',
    fields: Object.keys(stripe.StripeSettings.entries),
    parse: stripe.parseEnteredSettings,
    foreignSettings: { secretKey: 'sk_test_another_account' },
    unknown: { id: 'ch_unknown' },
    accountProblems: ['key-expired', 'no-permission'],
  },
  {
    platform: 'processor_b',
    file: 'docs/stores/braintree.md',
    folder: 'braintree',
    fields: Object.keys(braintree.BraintreeSettings.entries),
    parse: braintree.parseEnteredSettings,
    foreignSettings: { publicKey: 'another-key' },
    unknown: { paymentMethodNonce: 'unknown' },
    accountProblems: ['no-permission'],
    createProductId: () => 'monthly',
  },
];

const sharedPage = 'docs/stores/README.md';

interface DocumentedError {
  readonly code: string;
  readonly number: number;
  readonly message: string;
}

/** Reads the errors of a page: code and number of a heading, messages of its items, `…` for a variable part. */
const listErrors = (file: string): DocumentedError[] =>
  readSection(file, 'Errors')
    .split(/^### /m)
    .flatMap((part) => {
      const [, code = '', number = ''] = /^`(\w+)` (\d+)\n/.exec(part) ?? [];
      const messages = listItems(part).flatMap((item) => /^(?:`[^`]+`(?:, )?)+(?=: .+\.$)/.exec(item)?.[0] ?? '');
      return messages
        .flatMap((text) => [...text.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message))
        .map((message) => ({ code, number: Number(number), message }));
    });

const toPattern = (message: string): RegExp =>
  new RegExp(
    `^${message
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}$`,
  );

/** Comments quote names with the same characters as strings. */
const blockComments = /^ *\/\*[\s\S]*?\*\//gm;

/** All strings of the sources in a folder, with `…` for the variable parts of templates. */
const listStrings = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8')
        .replaceAll(blockComments, '')
        .matchAll(/'([^'\n]{4,})'|`([^`]{4,})`|"([^"\n]{4,})"/g),
    ])
    .map(([, single, template, double]) => (single ?? double ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, '…'))
    // A string of variable parts alone would match every message.
    .filter((text) => text.replaceAll('…', '').length > 8);

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-settings-'));
});
afterEach(async () => {
  await service.clearFaults();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.close();
});

describe.each(pages)('$file', (page) => {
  const { platform, file, fields, parse, foreignSettings, unknown, accountProblems } = page;
  const { createProductId = (number: number) => `product-${number}` } = page;
  let purchaseCount = 0;

  it('describes exactly the settings of the schema', () => {
    const rows = listTableRows(readSection(file, 'Settings'));
    const documented = rows.flatMap(([cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    expect(documented.sort()).toEqual([...fields].sort());
  });

  it('shows settings that the service accepts, with every required field', () => {
    writeInputFiles();
    const { status, stderr } = spawnSync('bash', ['--norc', '-euc', readSnippet(file, 'settings')], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, name = ''] = /(?:> |<<'END' > )(\S+\.json)/.exec(readSnippet(file, 'settings')) ?? [];
    expect(parse(JSON.parse(readFileSync(join(folder, name), 'utf8')))).toMatchObject({});
    expect(readDocument(file)).toContain(`app set-store my-app ${platform} ${name}`);
  });

  it('names the notification URL of the store', () => {
    const url = `<ApiUrl>/v3/webhook/${platform}/<app>`;
    if (platform === 'store_c') expect(readDocument(file)).not.toContain(url);
    else expect(readDocument(file)).toContain(url);
  });

  it('explains each error that the service returns for faults of settings, evidence and store', async () => {
    const documented = [...listErrors(file), ...listErrors(sharedPage)];
    const returned = await collectErrors();
    expect(returned.length).toBeGreaterThan(3);
    const isDocumented = ({ number, message }: Omit<DocumentedError, 'code'>) =>
      documented.some((error) => error.number === number && toPattern(error.message).test(message));
    expect(returned.filter((error) => !isDocumented(error))).toEqual([]);
  });

  it('names codes and messages of the code only', () => {
    const strings = ['', page.folder].flatMap((name) => listStrings(join('lib/stores', name)));
    expectFromCode(listErrors(file), [
      ...strings,
      ...listStrings('lib/validation'),
      ...listStrings('lib/checkout'),
      ...listStrings('lib/foundation'),
    ]);
  });

  /** Creates a purchase in the emulated store. */
  const order = async (terms: object = {}) => {
    const product = { platform, productId: createProductId(++purchaseCount), type: 'paid subscription' };
    return await service.callControl('/purchases', { ...product, applicationUsername: createUniqueName(), ...terms });
  };

  /** Buys, and returns the body of a validation. */
  const buy = async (terms: object = {}) => (await order(terms)).validate;

  /** Validates under each fault and returns the errors. */
  async function collectErrors(): Promise<{ number: number; message: string }[]> {
    const errors: { number: number; message: string }[] = [];
    const validate = async (keys: Awaited<ReturnType<TestService['createApp']>>, body: object) => {
      const { body: response } = await service.validate(keys, body);
      if (!response.ok) errors.push({ number: response.code, message: response.message });
    };
    const own = await service.createApp([platform]);
    await validate(await service.createApp([]), await buy());
    await validate(await service.createApp([platform], foreignSettings), await buy());
    const body = await buy();
    await validate(own, { ...body, transaction: { ...body.transaction, ...unknown } });
    await validate(own, { ...body, transaction: { type: body.transaction.type } });
    for (const problem of accountProblems) {
      await putAccount({ problem });
      await validate(await service.createApp([platform]), await buy());
      await putAccount({ problem: null });
    }
    await service.callControl('/faults', { platform, fault: 'down', times: 30 });
    await validate(own, await buy());
    await service.clearFaults();
    // Evidence that names its product, owned by another customer.
    const form = platform === 'store_a' ? { form: 'product' } : {};
    const shared = await buy({ ...form, applicationUsername: undefined });
    const first = await service.createApp([platform]);
    await changeSettings(getService(), first.appName, { strategy: 'first' });
    for (const applicationUsername of ['ann', 'ben'])
      await validate(first, { ...shared, additionalData: { applicationUsername } });
    const { id, validate: active } = await order(form);
    await validate(own, active);
    // A nonce of Braintree is used once, so the expiration shows in later evidence of the other stores only.
    if (platform !== 'processor_b') {
      const { validate: expired } = await service.callControl(`/purchases/${id}/expire`, form);
      await validate(own, expired);
    }
    return errors;
  }

  const putAccount = async (problem: object) =>
    await fetch(`${service.emulatorUrl}/control/accounts/${platform}`, {
      method: 'PUT',
      body: JSON.stringify(problem),
    });
});

describe(sharedPage, () => {
  it('names codes and messages of the code only', () => {
    const folders = ['lib/stores', 'lib/validation', 'lib/apps', 'lib/http', 'lib/foundation'];
    expectFromCode(listErrors(sharedPage), folders.flatMap(listStrings));
  });

  it('lists every error code of the API with its number and status', () => {
    const rows = listTableRows(readSection(sharedPage, 'Error codes')).map(([code, number, status]) => [
      code?.replaceAll('`', ''),
      Number(number),
      Number(status),
    ]);
    expect(rows).toEqual(Object.entries(errorCodes).map(([code, { number, status }]) => [code, number, status]));
  });
});

/** Checks that each error has a number of its code, and that a string of the sources can result in its message. */
function expectFromCode(errors: readonly DocumentedError[], strings: readonly string[]): void {
  expect(errors.length).toBeGreaterThan(2);
  for (const { code, number, message } of errors) {
    expect({ code, number }).toEqual({ code, number: errorCodes[code as keyof typeof errorCodes]?.number });
    const patterns = strings.map(toPattern);
    const isFromCode = strings.includes(message) || patterns.some((pattern) => pattern.test(message));
    // The reason of rejected settings is its own string.
    const [, reason = ''] = / rejected the settings: (.+)\.$/.exec(message) ?? [];
    const isReasonFromCode = reason === '' || reason === '…' || strings.some((text) => toPattern(text).test(reason));
    expect({ message, isFromCode, isReasonFromCode }).toEqual({ message, isFromCode: true, isReasonFromCode: true });
  }
}

/** The files that stores let an operator download. */
function writeInputFiles(): void {
  const pem = (type: 'ec' | 'rsa') => {
    const { privateKey } =
      type === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  };
  writeFileSync(join(folder, 'SubscriptionKey_2X9R4HXF34.p8'), pem('ec'));
  const account = {
    type: 'service_account',
    private_key: pem('rsa'),
    private_key_id: 'a1',
    client_email: 'c@p.iam.gserviceaccount.com',
  };
  writeFileSync(join(folder, 'service-account.json'), JSON.stringify(account));
}
