import { useState } from 'preact/hooks';
import type { GrantRecord } from '../../../lib/entitlements/contract.ts';
import { callApi } from '../../api/client.ts';
import { getNow } from '../../clock.ts';
import { DialogButton } from '../../components/dialog.tsx';
import { DayField, SelectField, TextField } from '../../components/fields.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { dayMs } from '../periods.ts';
import { entitlementEndpoints } from './entitlement-endpoints.ts';

interface GrantButtonProps {
  readonly user: string;
  /** The entitlements of the catalogue. */
  readonly names: readonly string[];
  readonly onDone: () => void;
}

/** Gives a customer access without a purchase. */
export const GrantButton = (props: GrantButtonProps) => (
  <DialogButton render={(onClose) => <GrantDialog {...props} onClose={onClose} />}>Grant access</DialogButton>
);

function GrantDialog({ user, names, onDone, onClose }: GrantButtonProps & { readonly onClose: () => void }) {
  const [entitlement, setEntitlement] = useState(names[0] ?? '');
  const [reason, setReason] = useState('');
  const [term, setTerm] = useState<Term>('7');
  const [day, setDay] = useState('');
  // One key for all attempts, so that a repeated request does not make a second grant.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const perform = async () => {
    const until = toEnd(term, day);
    const body = { entitlement: entitlement.trim(), reason, idempotencyKey, ...(until !== undefined && { until }) };
    await callApi(entitlementEndpoints.createGrant, { params: { applicationUsername: user }, body });
    return `${user} has ${body.entitlement}.`;
  };
  return (
    <FormDialog
      title={`Grant access to ${user}`}
      formLabel="Grant access"
      submitLabel="Grant"
      perform={perform}
      onDone={onDone}
      onClose={onClose}
    >
      {names.length > 0 ? (
        <SelectField
          label="Entitlement"
          value={entitlement}
          options={names.map((name) => [name, name] as const)}
          onChange={setEntitlement}
        />
      ) : (
        <TextField label="Entitlement" value={entitlement} onInput={setEntitlement} isRequired />
      )}
      <TextField label="Reason" value={reason} onInput={setReason} hint="Support reads it later" isRequired />
      <SelectField label="Term" value={term} options={terms} onChange={setTerm} />
      {term === 'day' && <DayField label="Until (UTC)" value={day} onSelect={setDay} isRequired />}
    </FormDialog>
  );
}

/** Days from now, or `day` for the day in the date field. */
const terms = [
  ['7', '1 week'],
  ['30', '30 days'],
  ['day', 'Until a day'],
  ['', 'Without an end'],
] as const;
type Term = (typeof terms)[number][0];

/** Returns the end of the term. Undefined without an end. */
function toEnd(term: Term, day: string): string | undefined {
  if (term === '') return undefined;
  return term === 'day' ? day : new Date(getNow() + Number(term) * dayMs).toISOString();
}

interface ExtendButtonProps {
  readonly user: string;
  readonly grant: GrantRecord;
  readonly onDone: () => void;
}

/** Moves the end of a grant. */
export const ExtendButton = (props: ExtendButtonProps) => (
  <DialogButton render={(onClose) => <ExtendDialog {...props} onClose={onClose} />}>Extend</DialogButton>
);

function ExtendDialog({ user, grant, onDone, onClose }: ExtendButtonProps & { readonly onClose: () => void }) {
  const [until, setUntil] = useState(grant.until?.slice(0, 10) ?? '');
  const perform = async () => {
    const params = { applicationUsername: user, grantId: grant.grantId };
    await callApi(entitlementEndpoints.changeGrant, { params, body: { until: until === '' ? null : until } });
    return 'The end of the grant is moved.';
  };
  return (
    <FormDialog
      title={`Move the end of the grant of ${grant.entitlement}`}
      formLabel="Extend the grant"
      submitLabel="Save"
      perform={perform}
      onDone={onDone}
      onClose={onClose}
    >
      <DayField label="Until (UTC, empty for no end)" value={until} onSelect={setUntil} />
    </FormDialog>
  );
}
