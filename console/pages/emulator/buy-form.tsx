import { useState } from 'preact/hooks';
import type { validateReceipt } from '../../../lib/validation/contract.ts';
import { apiError } from '../../api/api-error.ts';
import { callApi, defineEndpoint, type EndpointRequest } from '../../api/client.ts';
import { buy, type EmulatorOrder, type EmulatorReceipt, type EmulatorState } from '../../api/emulator.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { CheckboxField, Form, SelectField, TextField } from '../../components/fields.tsx';
import { Columns, Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { formatPlatform } from '../../format.ts';
import { changeQuery } from '../../router.tsx';

const types = [
  ['paid subscription', 'Subscription'],
  ['non renewing subscription', 'Non-renewing subscription'],
  ['consumable', 'Consumable'],
  ['non consumable', 'Non-consumable'],
] as const;
type ProductType = (typeof types)[number][0];

/** Products of the demo app by type. */
const demoProducts: Readonly<Record<ProductType, string>> = {
  'paid subscription': 'premium',
  'non renewing subscription': 'season_pass',
  consumable: 'coins',
  'non consumable': 'full_version',
};

const periods = [
  ['', 'Default of the product, or monthly'],
  ['P1W', 'Weekly'],
  ['P1M', 'Monthly'],
  ['P3M', 'Every 3 months'],
  ['P1Y', 'Yearly'],
] as const;

const offers = [
  ['none', 'None'],
  ['trial', 'Free trial, one period'],
  ['intro', 'Half price, one period'],
] as const;

const initialFields = {
  platform: 'store_a',
  type: 'paid subscription' as ProductType,
  productId: demoProducts['paid subscription'],
  applicationUsername: 'alice',
  period: '' as (typeof periods)[number][0],
  price: '',
  offer: 'none' as (typeof offers)[number][0],
  isRenewing: true,
  isPending: false,
  isSandbox: false,
};
type Fields = typeof initialFields;

interface BuyFormProps {
  readonly platforms: EmulatorState['platforms'];
  readonly onChange: () => void;
}

/** Buys in a store and submits the receipt to the service, like an app. */
export function BuyForm({ platforms, onChange }: BuyFormProps) {
  const [fields, setFields] = useState(initialFields);
  const change = (patch: Partial<Fields>) => setFields({ ...fields, ...patch });
  const { run, isRunning, error } = useAction(async () => {
    const receipt = await buy(toOrder(fields));
    try {
      await submitReceipt(receipt);
      announceResult(`${receipt.productId} is bought.`);
    } finally {
      changeQuery({ purchase: receipt.id });
      onChange();
    }
  });
  const isSubscription = fields.type === 'paid subscription';
  const hasPending = platforms.find(({ platform }) => platform === fields.platform)?.actions.includes('pay');
  return (
    <Section title="Buy" description="The page then submits the receipt to the service, like an app.">
      <Form label="Buy" onSubmit={run}>
        <Columns>
          <SelectField
            label="Store"
            value={fields.platform}
            options={platforms.map(({ platform }) => [platform, formatPlatform(platform)])}
            onChange={(platform) => change({ platform, isPending: false })}
          />
          <SelectField
            label="Type"
            value={fields.type}
            options={types}
            onChange={(type) =>
              change({ type, ...(fields.productId === demoProducts[fields.type] && { productId: demoProducts[type] }) })
            }
          />
          <TextField
            label="Product"
            value={fields.productId}
            onInput={(productId) => change({ productId })}
            isRequired
          />
          <TextField
            label="Customer"
            value={fields.applicationUsername}
            onInput={(applicationUsername) => change({ applicationUsername })}
          />
          {isSubscription && (
            <>
              <SelectField
                label="Period"
                value={fields.period}
                options={periods}
                onChange={(period) => change({ period })}
              />
              <SelectField
                label="Offer"
                value={fields.offer}
                options={offers}
                onChange={(offer) => change({ offer })}
              />
            </>
          )}
          <TextField
            label="Price in USD"
            value={fields.price}
            onInput={(price) => change({ price })}
            type="number"
            placeholder="Default of the product, or 4.99"
          />
        </Columns>
        {isSubscription && (
          <CheckboxField
            label="Renews when the clock passes the end of a period"
            isChecked={fields.isRenewing}
            onChange={(isRenewing) => change({ isRenewing })}
          />
        )}
        {hasPending && (
          <CheckboxField
            label="The payment is pending"
            isChecked={fields.isPending}
            onChange={(isPending) => change({ isPending })}
          />
        )}
        <CheckboxField
          label="Sandbox purchase"
          isChecked={fields.isSandbox}
          onChange={(isSandbox) => change({ isSandbox })}
        />
        <ErrorNotice error={error} />
        <Button type="submit" kind="primary" isBusy={isRunning}>
          {isRunning ? 'Buying…' : 'Buy'}
        </Button>
      </Form>
    </Section>
  );
}

function toOrder(fields: Fields): EmulatorOrder {
  const { platform, productId, type, applicationUsername, period, price, offer } = fields;
  return {
    platform,
    productId,
    type,
    ...(applicationUsername !== '' && { applicationUsername }),
    ...(price !== '' && { priceMicros: Math.round(Number(price) * 1_000_000), currency: 'USD' }),
    ...(fields.isPending && { pending: true }),
    ...(fields.isSandbox && { sandbox: true }),
    ...(type === 'paid subscription' && {
      ...(period !== '' && { period }),
      ...(offer === 'trial' && { trial: true }),
      ...(offer === 'intro' && { intro: true }),
      ...(fields.isRenewing && { autoRenew: true }),
    }),
  };
}

const validateEndpoint = defineEndpoint<typeof validateReceipt>('POST', '/v1/validate');

/** Posts the receipt of a purchase to the service. Throws an `ApiError` if the service rejects it. */
export async function submitReceipt({ validate }: Pick<EmulatorReceipt, 'validate'>): Promise<void> {
  // The control API returns the body of the request as the client of the store builds it.
  const request = { body: validate } as unknown as EndpointRequest<typeof validateReceipt>;
  const result = await callApi(validateEndpoint, request);
  if (!result.ok) throw apiError({ status: 400, code: String(result.code), message: result.message });
}
