import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getApp } from '../../../lib/apps/contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Form, TextField } from '../../components/fields.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { useCanChange } from '../../session.ts';
import { settingsEndpoints } from './settings-endpoints.ts';

interface AlertsSectionProps {
  readonly app: Pick<ContractResponse<typeof getApp>, 'alertUrl'>;
  readonly onSaved: () => void;
}

/** The URL that receives the start and the end of each problem. A saved URL is not shown whole: it is a credential. */
export function AlertsSection({ app, onSaved }: AlertsSectionProps) {
  const canChange = useCanChange();
  const [url, setUrl] = useState('');
  // The service can return the former URL for some seconds.
  const [saved, setSaved] = useState<string | undefined>();
  const alertUrl = saved ?? app.alertUrl;
  const { run, isRunning, error } = useAction(async (newUrl: string) => {
    await callApi(settingsEndpoints.changeApp, { body: { alertUrl: newUrl } });
    setUrl('');
    setSaved(newUrl && `${new URL(newUrl).origin}/…`);
    announceResult(newUrl ? 'The URL for alerts is saved.' : 'Alerts are switched off.');
    onSaved();
  });
  const test = useAction(async () => {
    await callApi(settingsEndpoints.testAlert, {});
    announceResult('The test alert is accepted.');
  });
  return (
    <Section
      title="Alerts"
      description="A URL, such as an incoming webhook of Slack, receives the start and the end of each problem of the overview."
    >
      <p class="section-description">{alertUrl ? `Alerts are sent to ${alertUrl}.` : 'Alerts are off.'}</p>
      {canChange && (
        <Form label="Alerts" onSubmit={async () => await run(url)}>
          <Row>
            <TextField label="New URL for alerts" value={url} onInput={setUrl} isRequired />
            <Button type="submit" isBusy={isRunning}>
              Save
            </Button>
            {alertUrl && (
              <>
                <Button type="button" onClick={test.run} isBusy={test.isRunning}>
                  Send a test alert
                </Button>
                <Button type="button" onClick={async () => await run('')}>
                  Switch alerts off
                </Button>
              </>
            )}
          </Row>
          <ErrorNotice error={error ?? test.error} />
        </Form>
      )}
    </Section>
  );
}
