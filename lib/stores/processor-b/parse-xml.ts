interface XmlElement {
  readonly name: string;
  readonly attributes: string;
  readonly children: XmlElement[];
  text: string;
}

const tokenPattern = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)|</g;

/** The processor's XML as the official client reads it: camel-case members, typed values. Throws on what is not XML. */
export function parseXml(text: string): Readonly<Record<string, unknown>> {
  const [root, ...others] = parseRoot(text).children;
  if (root === undefined || others.length > 0) throw new Error('the answer is not one XML element');
  return { [camelCase(root.name)]: toValue(root) };
}

function parseRoot(text: string): XmlElement {
  const root: XmlElement = { name: '', attributes: '', children: [], text: '' };
  const open = [root];
  for (const [token, closing, name, attributes = '', empty, content] of text.matchAll(tokenPattern)) {
    const parent = open.at(-1) ?? root;
    if (token === '<' || open.length > 100) throw new Error('the answer is not XML');
    if (content !== undefined) parent.text += content;
    else if (name !== undefined && closing) {
      if (open.length === 1 || open.pop()?.name !== name) throw new Error('the XML is not nested well');
    } else if (name !== undefined) {
      const element: XmlElement = { name, attributes, children: [], text: '' };
      parent.children.push(element);
      if (!empty) open.push(element);
    }
  }
  if (open.length > 1 || root.text.trim() !== '') throw new Error('the XML is cut');
  return root;
}

function toValue({ attributes, children, text }: XmlElement): unknown {
  const type = readAttribute(attributes, 'type');
  if (readAttribute(attributes, 'nil') === 'true') return null;
  if (type === 'array') return children.map(toValue);
  if (type === 'integer') return Number.parseInt(text, 10);
  if (type === 'boolean') return text.trim() === 'true';
  return children.length > 0 || type === 'collection' ? toMembers(children) : unescapeXml(text);
}

function toMembers(children: readonly XmlElement[]): Record<string, unknown> {
  const members = new Map<string, unknown[]>();
  for (const child of children) {
    const name = camelCase(child.name);
    members.set(name, [...(members.get(name) ?? []), toValue(child)]);
  }
  return Object.fromEntries([...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

const readAttribute = (attributes: string, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];

const camelCase = (name: string): string =>
  name.replace(/[-_]([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const unescapeXml = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,5})|#(\d{1,6})|(\w+));/gi, (all, hex?: string, decimal?: string, name = '') =>
    hex || decimal ? String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)) : (entities[name] ?? all),
  );
