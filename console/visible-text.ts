import { options } from 'preact';
import { jsx } from 'preact/jsx-runtime';

/**
 * Control and format characters, which are invisible or change the direction of the text around them. Line breaks and
 * tabs are kept. Joiners are part of several scripts and of emoji, but not of text in Latin letters.
 * @see https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
 */
const hiddenCharacters = /(?![\t\n])\p{Cc}|(?![\u200c\u200d])\p{Cf}|(?<=[\x20-\x7e])[\u200c\u200d]|[\u2028\u2029]/gu;

/** Replaces hidden characters with their code point, such as `⟨U+202E⟩`: different names are always distinguishable. */
export const toVisibleText = (text: string): string =>
  text.replace(
    hiddenCharacters,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );

/** Attributes that browsers show as text. */
const textAttributes = ['title', 'placeholder'] as const;

/** Shows hidden characters in all text, and lets names break. Values of fields and the clipboard stay as they are. */
export function applyTextRules(): void {
  const { vnode: next } = options;
  options.vnode = (vnode) => {
    const node = vnode as { readonly type: unknown; props: unknown };
    // Preact creates a node without a type for each text, also for one that a component returns.
    if (node.type === null && typeof node.props === 'string') node.props = toVisibleText(node.props);
    if (typeof node.type === 'string') changeProps(node.type, node.props as Record<string, unknown>);
    next?.(vnode);
  };
}

/** Elements whose only text breaks at dots and underscores, before browsers break it inside a word. */
const named = /^(a|h1|t[dh])$/;

function changeProps(type: string, props: Record<string, unknown>): void {
  for (const name of textAttributes) if (typeof props[name] === 'string') props[name] = toVisibleText(props[name]);
  if (typeof props.children === 'string' && named.test(type))
    props.children = props.children
      .split(/(?<=_|\.(?=\D))/)
      .flatMap((part, index) => (index ? [jsx('wbr', {}), part] : part));
}
