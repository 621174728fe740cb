import type { BenchResult } from './bench-result.ts';
import { sendLoad, summarizeTimes } from './load/send-load.ts';
import { withTestService } from './with-test-service.ts';

const seconds = 3;
const given = 1_000;

/**
 * Spends at fixed rates, whether or not earlier calls have ended, through the handler on a table engine of this
 * machine: over many customers, and of one. A third of the calls repeats an earlier one. Then recounts each balance
 * from the responses.
 */
export const benchCredits = async (): Promise<BenchResult> =>
  await withTestService(async (service) => {
    const { appName, secretKey } = await service.createApp([]);
    const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
    const { getCustomerCredits, giveCredits, spendCredits } = await import('../lib/credits/contract.ts');
    const headers = buildBasicAuth(appName, secretKey);
    const coins = { credit: 'coins', reason: 'A song' };
    const rows = [];
    for (const { rate, customers } of [
      { rate: 1_000, customers: 1_000 },
      { rate: 20, customers: 1 },
    ]) {
      const users = Array.from({ length: customers }, (_, number) => `${rate}-user-${number}`);
      for (const applicationUsername of users) {
        const body = { ...coins, amount: given, idempotencyKey: 'gift' };
        await callEndpoint(giveCredits, { headers, params: { applicationUsername }, body });
      }
      const answers = new Map<string, string>();
      let wrong = 0;
      const { timesMs, achieved, errors } = await sendLoad({ rate, count: rate * seconds }, async (number) => {
        const params = { applicationUsername: users[number % customers] ?? '' };
        // Every third call repeats the one before it of the same customer.
        const round = Math.floor(number / customers);
        const idempotencyKey = `order-${round - (round % 3 === 2 ? 1 : 0)}`;
        const request = { headers, params, body: { ...coins, amount: 1, idempotencyKey } };
        const { status, body } = await callEndpoint(spendCredits, request);
        const id = `${params.applicationUsername} ${idempotencyKey}`;
        const answer = JSON.stringify(body);
        if (status !== 200 || (answers.get(id) ?? answer) !== answer) wrong++;
        answers.set(id, answer);
      });
      const spent = new Map<string, number>();
      for (const id of answers.keys()) {
        const user = id.split(' ', 1)[0] ?? '';
        spent.set(user, (spent.get(user) ?? 0) + 1);
      }
      for (const applicationUsername of users) {
        const { body } = await callEndpoint(getCustomerCredits, { headers, params: { applicationUsername } });
        if (body.credits.coins.balance !== given - (spent.get(applicationUsername) ?? 0)) wrong++;
      }
      rows.push({
        'rate /s': rate,
        customers,
        calls: timesMs.length,
        'reached /s': Math.round(achieved),
        ...summarizeTimes(timesMs),
        'wrong or lost': wrong + errors,
      });
    }
    return { title: 'Spends of credits, on a table engine of this machine', rows };
  });
