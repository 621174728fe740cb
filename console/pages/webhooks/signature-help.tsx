import { Section } from '../../components/layout.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { changeQuery } from '../../router.tsx';

/** @see https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries */
const snippets: readonly (readonly [id: string, label: string, code: string])[] = [
  [
    'node',
    'Node.js',
    `import { Webhook } from 'standardwebhooks';

// rawBody: the request body before it is parsed.
const webhook = new Webhook(process.env.WEBHOOK_SECRET).verify(rawBody, request.headers);`,
  ],
  [
    'python',
    'Python',
    `from standardwebhooks.webhooks import Webhook

# raw_body: the request body before it is parsed.
webhook = Webhook(os.environ["WEBHOOK_SECRET"]).verify(raw_body, request.headers)`,
  ],
  [
    'go',
    'Go',
    `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

wh, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
// rawBody: the request body before it is parsed.
err = wh.Verify(rawBody, request.Header)`,
  ],
  [
    'php',
    'PHP',
    `$webhook = new \\StandardWebhooks\\Webhook(getenv('WEBHOOK_SECRET'));
// The request body before it is parsed.
$content = $webhook->verify(file_get_contents('php://input'), getallheaders());`,
  ],
  [
    'other',
    'Without a library',
    `signed    = webhook-id + "." + webhook-timestamp + "." + raw body
key       = base64 decoded secret, without its prefix "whsec_"
expected  = "v1," + base64(hmac_sha256(key, signed))

1. Reject a webhook-timestamp (seconds) that is more than 5 minutes away.
2. webhook-signature is a list separated by spaces. Accept the webhook if
   one entry equals the expected signature. Compare in constant time.`,
  ],
];

/** Explains how the app's server verifies the signature of a webhook. The language is in the query of the URL. */
export function SignatureHelp({ language }: { readonly language: string | undefined }) {
  return (
    <Section
      title="Verify the signature"
      description="Every webhook is signed as in Standard Webhooks. The operator receives the signing secret once, from app set-webhook."
    >
      <Tabs
        label="Languages"
        selected={language}
        onSelect={(id) => changeQuery({ language: id }, { isReplacing: true })}
        tabs={snippets.map(([id, label, code]) => ({
          id,
          label,
          render: () => (
            <pre class="code" tabIndex={0}>
              {code}
            </pre>
          ),
        }))}
      />
      <p class="quiet">
        Respond with 2xx within 15 seconds and process the webhook later. A webhook can arrive twice, with the same
        webhook-id, and in any order.
      </p>
    </Section>
  );
}
