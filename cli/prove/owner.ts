import { createInterface } from 'node:readline/promises';
import * as v from 'valibot';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parseJson } from '../../lib/foundation/parse.ts';
import { type Platform, platformTokens } from '../../lib/foundation/platform.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { adoptEmulatorTime } from '../connect.ts';
import type { Output } from '../output.ts';
import type { ProofStep } from './proof-step.ts';
import type { PurchaseView } from './service-client.ts';

/** The person who performs the steps, or the store emulator in their place. */
export interface Owner {
  /** Brings about the time of a step. */
  prepare?(step: ProofStep, purchase: PurchaseView): Promise<void>;
  /** Performs a step. Returns whether it was skipped. */
  perform(step: ProofStep): Promise<'done' | 'skipped'>;
}

/** Creates the owner at the terminal. Without a terminal, a step counts as done when it is announced. */
export const createTerminalOwner = (
  output: Pick<Output, 'note'>,
  {
    input,
    prompts,
  }: { readonly input: NodeJS.ReadableStream & { isTTY?: boolean }; readonly prompts: NodeJS.WritableStream } = {
    input: process.stdin,
    prompts: process.stderr,
  },
): Owner => ({
  async perform({ name, instruction, isAutomatic, document }) {
    output.note(`\n${name}: ${instruction}\n  ${document}`);
    if (isAutomatic || !input.isTTY) return 'done';
    const terminal = createInterface({ input, output: prompts });
    try {
      const reply = await terminal.question('Press Enter when you have done it, or type s to skip the step: ');
      return reply.trim().toLowerCase() === 's' ? 'skipped' : 'done';
    } finally {
      terminal.close();
    }
  },
});

interface EmulatorOptions {
  readonly emulatorUrl: string;
  readonly platform: Platform;
  readonly isSandbox: boolean;
  readonly serviceUrl: string;
  readonly appName: string;
  readonly publicKey: string;
  readonly customers: readonly [first: string, second: string];
  readonly output: Output;
}

const EmulatedPurchase = v.object({ id: v.string(), validate: v.looseObject({}) });

/** Creates an owner who performs the steps in the store emulator, and submits the receipt like an app. */
export function createEmulatedOwner(options: EmulatorOptions): Owner {
  const { emulatorUrl, platform, isSandbox, customers, output } = options;
  let bought: string | undefined;
  const control = async (path: string, body?: object) => {
    const response = await fetch(`${emulatorUrl}/control${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (response.ok) return parseJson(EmulatedPurchase, await response.text(), 'ConnectionFailed');
    throw new ServiceError('ConnectionFailed', `The store emulator responded: ${await response.text()}`);
  };
  const find = async () => await control(`/purchases/${encodeURIComponent(bought ?? '')}`);
  return {
    async prepare({ name }, purchase) {
      const isBilled = name === 'renew' || name === 'grace';
      if (platform === platformTokens.braintree && isBilled) await moveToRenewal(emulatorUrl, purchase);
    },
    async perform({ name, instruction, emulatorActions }) {
      output.note(`\n${name}: ${instruction}\n  The store emulator does it.`);
      if (name === 'buy') {
        const [applicationUsername] = customers;
        const order = { platform, productId: 'premium', type: 'paid subscription', sandbox: isSandbox };
        const { id, validate } = await control('/purchases', { ...order, applicationUsername });
        bought = id;
        await submitReceipt(validate, applicationUsername, options);
      }
      if (name === 'restore') await submitReceipt((await find()).validate, customers[1], options);
      for (const action of emulatorActions)
        await control(`/purchases/${encodeURIComponent(bought ?? '')}/${action}`, {});
      return 'done';
    },
  };
}

/** Braintree bills on the days of the periods, so a renewal needs the time to be there. */
async function moveToRenewal(emulatorUrl: string, { expirationDate }: PurchaseView): Promise<void> {
  const set = new Date(Date.parse(expirationDate ?? '') - 2 * dayMs).toISOString();
  await fetch(`${emulatorUrl}/control/clock`, { method: 'POST', body: JSON.stringify({ set }) });
  await adoptEmulatorTime(emulatorUrl);
}

const Validation = v.object({ ok: v.boolean(), message: v.optional(v.string(), '') });

async function submitReceipt(
  body: object,
  applicationUsername: string,
  { serviceUrl, appName, publicKey }: EmulatorOptions,
): Promise<void> {
  const response = await fetch(`${serviceUrl}/v1/validate`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${appName}:${publicKey}`).toString('base64')}` },
    body: JSON.stringify({ ...body, additionalData: { applicationUsername } }),
  });
  const { ok, message } = parseJson(Validation, await response.text(), 'ConnectionFailed');
  if (!ok) throw new ServiceError('InvalidPayload', `The service rejected the receipt: ${message}`);
}
