import type { IamDecision } from './iam-actions.ts';
import type { IamAccess, IamPolicies } from './iam-policies.ts';

/** Receives each allowed access with the id of its caller. */
export type OnAccess = (callerId: string, access: IamAccess) => void;

export interface CallDecision {
  readonly callerId: string;
  readonly target: string;
  readonly decision: IamDecision;
}

interface FunctionUsage {
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

export interface IamUsage {
  readonly byFunction: ReadonlyMap<string, FunctionUsage>;
  record(call: CallDecision): void;
}

export function createIamUsage(
  { functions }: IamPolicies,
  { onAccess = () => {}, log }: { readonly onAccess?: OnAccess | undefined; readonly log: (text: string) => void },
): IamUsage {
  const byFunction = new Map(functions.map((id) => [id, { allowed: new Set<string>(), denied: new Set<string>() }]));
  return {
    byFunction,
    record({ callerId, target, decision }) {
      const usage = byFunction.get(callerId);
      if ('denial' in decision) {
        usage?.denied.add(decision.denial);
        log(`${decision.denial}\n`);
        return;
      }
      usage?.allowed.add(target);
      for (const access of decision.accesses) onAccess(callerId, access);
    },
  };
}
