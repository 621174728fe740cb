import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type {
  CreditEntryRecord,
  getCustomerCredits,
  giveCredits,
  listCreditHistory,
  takeCredits,
} from '../../../lib/credits/contract.ts';
import { callApi, defineEndpoint } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { useCursorPages } from '../../api/use-cursor-pages.ts';
import { Button } from '../../components/button.tsx';
import { DialogButton } from '../../components/dialog.tsx';
import { DayField, TextField } from '../../components/fields.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { DateTime } from '../../components/values.tsx';
import { formatNumber } from '../../format.ts';
import { Link } from '../../router.tsx';
import { toSandboxQuery } from '../../sandbox.ts';
import { useCanSupport } from '../../session.ts';

const endpoints = {
  get: defineEndpoint<typeof getCustomerCredits>('GET', '/v3/customers/:applicationUsername/credits'),
  list: defineEndpoint<typeof listCreditHistory>('GET', '/v3/customers/:applicationUsername/credits/history'),
  give: defineEndpoint<typeof giveCredits>('POST', '/v3/customers/:applicationUsername/credits/give'),
  take: defineEndpoint<typeof takeCredits>('POST', '/v3/customers/:applicationUsername/credits/take'),
};

type Credit = ContractResponse<typeof getCustomerCredits>['credits'][string];

interface CreditsProps {
  readonly user: string;
  readonly isSandbox: boolean;
  /** The credits of the catalogue. */
  readonly names: readonly string[];
  /** Version of the timeline of the customer. */
  readonly revision: string | undefined;
  readonly onChange: () => void;
}

/** The balances of a customer and their history. A support key gives and takes units. */
export function Credits({ user, isSandbox, names, revision, onChange }: CreditsProps) {
  const canSupport = useCanSupport();
  const [isOpen, setOpen] = useState(false);
  const request = { params: { applicationUsername: user }, query: toSandboxQuery(isSandbox) };
  const { data, error, reload } = useApi(endpoints.get, request, { revision });
  const known = data?.credits ?? {};
  return (
    <Section title="Credits">
      <ErrorNotice error={error} onRetry={reload} />
      {!data && error === undefined && <Skeleton lines={2} />}
      <ul class="claims">
        {data &&
          [...new Set([...names, ...Object.keys(known)])].map((name) => (
            <li key={name}>
              <span>
                <strong>
                  {formatNumber(known[name]?.balance ?? 0)} {name}
                </strong>{' '}
                <CreditEnd credit={known[name]} />
              </span>
              <span class="quiet">{describeTotals(known[name])}</span>
              {canSupport && (
                <Row>
                  {(['give', 'take'] as const).map((action) => (
                    <DialogButton
                      key={action}
                      label={`${titles[action]} ${name}`}
                      render={(onClose) => (
                        <ChangeDialog
                          action={action}
                          name={name}
                          balance={known[name]?.balance ?? 0}
                          user={user}
                          isSandbox={isSandbox}
                          onDone={() => {
                            reload();
                            onChange();
                          }}
                          onClose={onClose}
                        />
                      )}
                    >
                      {titles[action]}
                    </DialogButton>
                  ))}
                </Row>
              )}
            </li>
          ))}
      </ul>
      <details class="disclosure" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>History of the credits</summary>
        {isOpen && <History user={user} isSandbox={isSandbox} revision={JSON.stringify(data?.credits)} />}
      </details>
    </Section>
  );
}

const titles = { give: 'Give', take: 'Take' } as const;

function describeTotals(credit: Credit | undefined): string {
  if (!credit) return 'Never given';
  const { granted, spent, takenBack, expired } = credit;
  const parts = [['given', granted] as const, ['spent or held', spent] as const, ['taken back', takenBack] as const];
  return [...parts, ['expired', expired] as const]
    .filter(([name, amount]) => name === 'given' || amount !== 0)
    .map(([name, amount]) => `${formatNumber(amount)} ${name}`)
    .join(', ');
}

/** The units that end first, and those that are held. */
function CreditEnd({ credit }: { readonly credit: Credit | undefined }) {
  const [next] = (credit?.lots ?? [])
    .filter(({ expiresAt, left }) => expiresAt !== null && left > 0)
    .sort((a, b) => (a.expiresAt ?? '').localeCompare(b.expiresAt ?? ''));
  const held = (credit?.holds ?? []).reduce((sum, { amount }) => sum + amount, 0);
  return (
    <span class="quiet">
      {next && (
        <>
          {formatNumber(next.left)} end on <DateTime value={next.expiresAt} kind="date" />{' '}
        </>
      )}
      {held > 0 && `${formatNumber(held)} held`}
    </span>
  );
}

interface ChangeDialogProps extends Pick<CreditsProps, 'user' | 'isSandbox'> {
  readonly action: keyof typeof titles;
  readonly name: string;
  readonly balance: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Gives or takes units with a reason. The confirmation has the balance before and after it. */
function ChangeDialog({ action, name, balance, user, isSandbox, onDone, onClose }: ChangeDialogProps) {
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const [isChecked, setChecked] = useState(false);
  // One key for all attempts, so that a repeated request changes nothing again.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const units = Number(amount);
  const after = action === 'give' ? balance + units : balance - units;
  const text = `${titles[action]} ${formatNumber(units)} ${name}`;
  const perform = async () => {
    const params = { applicationUsername: user };
    const body = { credit: name, amount: units, reason, idempotencyKey, sandbox: isSandbox };
    const changed =
      action === 'give'
        ? await callApi(endpoints.give, { params, body: { ...body, ...(until !== '' && { until }) } })
        : await callApi(endpoints.take, { params, body });
    return `${user} has ${formatNumber(changed.balance)} ${name}.`;
  };
  return (
    <FormDialog
      title={isChecked ? `${text}?` : `${titles[action]} ${name}`}
      formLabel={`${titles[action]} credits`}
      submitLabel={isChecked ? text : 'Continue'}
      {...(!isChecked && { onContinue: () => setChecked(true) })}
      perform={perform}
      onDone={onDone}
      onClose={onClose}
    >
      {isChecked ? (
        <div class="dialog-body">
          <p>
            {user} has {formatNumber(balance)} {name}, and will have <strong>{formatNumber(after)}</strong>
            {isSandbox ? ' in the sandbox' : ''}. Reason: {reason}
          </p>
        </div>
      ) : (
        <>
          <TextField label="Units" type="number" min={1} value={amount} onInput={setAmount} isRequired />
          <TextField
            label="Reason"
            value={reason}
            onInput={setReason}
            hint="It stays in the history of the customer"
            isRequired
          />
          {action === 'give' && <DayField label="Until (UTC, empty for no end)" value={until} onSelect={setUntil} />}
        </>
      )}
    </FormDialog>
  );
}

const pageSize = 20;

function History({ user, isSandbox, revision }: Omit<CreditsProps, 'names' | 'onChange'>) {
  const request = (cursor?: string) => ({
    params: { applicationUsername: user },
    query: { limit: pageSize, cursor, ...toSandboxQuery(isSandbox) },
  });
  const newest = useApi(endpoints.list, request(), { revision });
  const { rows, hasOlder, loadOlder, isLoadingOlder, error } = useCursorPages({
    newest: newest.data,
    loadPage: async (cursor) => await callApi(endpoints.list, request(cursor)),
    getId: ({ id }: CreditEntryRecord) => id,
  });
  return (
    <>
      <ErrorNotice error={newest.error ?? error} onRetry={newest.reload} />
      {!rows && newest.error === undefined && <Skeleton lines={3} />}
      <ul class="claims">
        {rows?.map(({ id, type, at, credit, amount, balance, reason, key, purchaseId }) => (
          <li key={id}>
            <span>
              <DateTime value={at} /> <strong class="number">{formatNumber(amount)}</strong> {credit}{' '}
              {type.replace('-', ' ')}
              {purchaseId !== undefined && (
                <>
                  {' '}
                  for{' '}
                  <Link to="/purchases/:id" params={{ id: purchaseId }}>
                    a purchase
                  </Link>
                </>
              )}
            </span>
            <span class="quiet">
              {[reason, key && `by ${key.name}`, `balance ${formatNumber(balance)}`].filter(Boolean).join(', ')}
            </span>
          </li>
        ))}
      </ul>
      {rows?.length === 0 && <p class="quiet">The credits have never changed.</p>}
      {hasOlder && (
        <Button onClick={loadOlder} isBusy={isLoadingOlder}>
          Show older changes
        </Button>
      )}
    </>
  );
}
