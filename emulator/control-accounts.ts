import * as v from 'valibot';
import { controlError } from './control-error.ts';
import { type Emulator, getStore } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseBody } from './parse-body.ts';

const Body = v.strictObject({ problem: v.nullable(v.string()) });

/** `PUT /control/accounts/{platform}`: gives the developer's account a problem until `{"problem": null}` removes it. */
export function setAccountProblem(emulator: Emulator, call: HttpRequest, [name = '']: readonly string[]): object {
  const { platform, accountProblems } = getStore(emulator, name);
  const { problem } = parseBody(Body, call);
  if (problem === null) {
    emulator.accountProblems.delete(platform);
  } else {
    if (!Object.hasOwn(accountProblems, problem))
      throw controlError(400, `${platform} has the account problems ${Object.keys(accountProblems).join(', ')}.`);
    emulator.accountProblems.set(platform, problem);
  }
  return { platform, problem };
}
