import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getApp } from '../../../lib/apps/contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { DialogButton } from '../../components/dialog.tsx';
import { FieldList } from '../../components/field-list.tsx';
import { CheckboxField, Form, TextArea, TextField } from '../../components/fields.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { useCanChange } from '../../session.ts';
import { SecretNotice } from './secret-notice.tsx';
import { settingsEndpoints } from './settings-endpoints.ts';

type Webhooks = ContractResponse<typeof getApp>['webhooks'];

interface WebhookSettingsProps {
  readonly webhooks: Webhooks | undefined;
  readonly onSaved: () => void;
}

const listUrls = (text: string): string[] => text.split(/\s+/).filter((url) => url !== '');

/** The webhook URLs. Saved URLs are shown without their secret parts, so new ones replace all of them. */
export function WebhookSettingsSection({ webhooks, onSaved }: WebhookSettingsProps) {
  const canChange = useCanChange();
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | undefined>();
  return (
    <Section
      title="Webhooks"
      actions={
        canChange &&
        !isOpen && (
          <Row>
            <Button onClick={() => setOpen(true)}>Set the URLs</Button>
            {webhooks && <RotateButton onIssued={setSecret} />}
          </Row>
        )
      }
    >
      <FieldList
        fields={[
          ['URLs', webhooks?.urls.join(', ') || 'None: webhooks are off'],
          ['URLs for sandbox purchases', webhooks?.sandboxUrls.join(', ') || 'The same'],
          ['Secret key in the body', webhooks?.includesPassword ? 'Yes' : 'No'],
          ['Further webhooks', webhooks?.events.join(', ') || 'None'],
        ]}
      />
      {secret !== undefined && <SecretNotice secret={secret} label="signing secret" />}
      {isOpen && (
        <WebhookForm
          onDone={(issued) => {
            setOpen(false);
            setSecret(issued);
            onSaved();
          }}
        />
      )}
    </Section>
  );
}

/** Issues a new signing secret. The URLs stay. */
const RotateButton = ({ onIssued }: { readonly onIssued: (secret: string | undefined) => void }) => (
  <DialogButton render={(onClose) => <RotateDialog onIssued={onIssued} onClose={onClose} />}>
    Rotate the signing secret
  </DialogButton>
);

interface RotateDialogProps {
  readonly onIssued: (secret: string | undefined) => void;
  readonly onClose: () => void;
}

function RotateDialog({ onIssued, onClose }: RotateDialogProps) {
  const [hours, setHours] = useState('24');
  const rotate = async () => {
    const body = { rotateSecret: true, overlapHours: Number(hours) };
    onIssued((await callApi(settingsEndpoints.setWebhook, { body })).signingSecret);
    return 'The new signing secret is on the page.';
  };
  return (
    <FormDialog
      title="Rotate the signing secret?"
      formLabel="Signing secret"
      submitLabel="Rotate"
      perform={rotate}
      onDone={() => {}}
      onClose={onClose}
    >
      <TextField
        label="Hours in which webhooks have both signatures. 0: the current secret is invalid immediately"
        type="number"
        value={hours}
        onInput={setHours}
        isRequired
      />
    </FormDialog>
  );
}

/** The first URLs issue a signing secret. */
function WebhookForm({ onDone }: { readonly onDone: (signingSecret: string | undefined) => void }) {
  const [urls, setUrls] = useState('');
  const [sandboxUrls, setSandboxUrls] = useState('');
  const [includesPassword, setIncludesPassword] = useState(false);
  const { run, isRunning, error } = useAction(async () => {
    const body = { urls: listUrls(urls), sandboxUrls: listUrls(sandboxUrls), includesPassword };
    const { signingSecret } = await callApi(settingsEndpoints.setWebhook, { body });
    announceResult(body.urls.length === 0 ? 'Webhooks are off.' : 'The webhook URLs are saved.');
    onDone(signingSecret);
  });
  return (
    <Form label="Webhook URLs" onSubmit={run}>
      <TextArea label="URLs, one in a line. Without any, webhooks are off." value={urls} onInput={setUrls} rows={2} />
      <TextArea
        label="URLs for sandbox purchases, if they differ"
        value={sandboxUrls}
        onInput={setSandboxUrls}
        rows={2}
      />
      <CheckboxField
        label="Include the secret key in the body"
        isChecked={includesPassword}
        onChange={setIncludesPassword}
      />
      <ErrorNotice error={error} />
      <Row>
        <Button type="submit" kind="primary" isBusy={isRunning}>
          Replace the URLs
        </Button>
      </Row>
    </Form>
  );
}
