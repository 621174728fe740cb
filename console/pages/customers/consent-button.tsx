import { useState } from 'preact/hooks';
import type { setRefundConsent } from '../../../lib/refunds/contract.ts';
import { callApi, defineEndpoint } from '../../api/client.ts';
import { DialogButton } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';

const endpoint = defineEndpoint<typeof setRefundConsent>('PUT', '/v3/customers/:applicationUsername/refund-consent');

const choices = [
  ['true', 'Consents'],
  ['false', 'Does not consent, or withdraws the consent'],
] as const;

interface ConsentButtonProps {
  readonly user: string;
  readonly onDone: () => void;
}

/** Stores whether a customer consents to statements about refunds. */
export const ConsentButton = (props: ConsentButtonProps) => (
  <DialogButton icon="refunds" render={(onClose) => <ConsentDialog {...props} onClose={onClose} />}>
    Consent to statements
  </DialogButton>
);

function ConsentDialog({ user, onDone, onClose }: ConsentButtonProps & { readonly onClose: () => void }) {
  const [choice, setChoice] = useState<(typeof choices)[number][0]>('true');
  const perform = async () => {
    const body = { consented: choice === 'true' };
    const { consentedAt } = await callApi(endpoint, { params: { applicationUsername: user }, body });
    return consentedAt === null ? `${user} does not consent.` : `${user} consents.`;
  };
  return (
    <FormDialog
      title={`Statements about refunds of ${user}`}
      formLabel="Consent to statements"
      submitLabel="Save"
      perform={perform}
      onDone={onDone}
      onClose={onClose}
    >
      <p class="dialog-body">
        The App Store accepts statements about a refund only with the consent of the customer. Without it, the policy of
        the app sends none. A refund request shows the stored consent.
      </p>
      <SelectField label="The customer" value={choice} options={choices} onChange={setChoice} />
    </FormDialog>
  );
}
