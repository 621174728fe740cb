import * as v from 'valibot';
import { type AccountSetting, AccountSettings } from './account-settings.ts';
import { controlError } from './control-error.ts';
import { type Emulator, getStore, type RunningStore } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseBody } from './parse-body.ts';

const Body = v.pipe(
  v.strictObject({ problem: v.exactOptional(v.nullable(v.string())), ...AccountSettings.entries }),
  v.check((body) => Object.keys(body).length > 0, 'expected problem or a setting'),
);

/**
 * `PUT /control/accounts/{platform}`: changes settings of the developer's account, or gives it a problem until
 * `{"problem": null}` removes it.
 */
export function changeAccount(emulator: Emulator, call: HttpRequest, [name = '']: readonly string[]): object {
  const store = getStore(emulator, name);
  const { problem, ...settings } = parseBody(Body, call);
  if (problem !== undefined) setProblem(emulator, store, problem);
  changeSettings(store, settings);
  const { platform, accountSettings } = store;
  return { platform, problem: emulator.accountProblems.get(platform) ?? null, ...accountSettings?.current() };
}

function setProblem(
  { accountProblems: current }: Emulator,
  { platform, accountProblems }: RunningStore,
  problem: string | null,
): void {
  if (problem === null) {
    current.delete(platform);
    return;
  }
  if (!Object.hasOwn(accountProblems, problem))
    throw controlError(400, `${platform} has the account problems ${Object.keys(accountProblems).join(', ')}.`);
  current.set(platform, problem);
}

function changeSettings({ platform, accountSettings }: RunningStore, settings: AccountSettings): void {
  const names = Object.keys(settings) as AccountSetting[];
  const unsupported = names.find((setting) => !accountSettings?.names.includes(setting));
  if (unsupported !== undefined) throw controlError(422, `${unsupported}: ${platform} does not have this setting.`);
  accountSettings?.change(settings);
}
