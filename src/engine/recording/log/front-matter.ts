type Scalar = string | number | boolean | null;

/** YAML for any text: every string is quoted, and what YAML forbids in one is escaped. */
export function frontMatter(facts: Readonly<Record<string, Scalar | readonly string[]>>): string {
  const rows = Object.entries(facts).map(([key, value]) =>
    typeof value === 'object' && value !== null
      ? `${key}: [${value.map(scalar).join(', ')}]`
      : `${key}: ${scalar(value)}`,
  );
  return `---\n${rows.join('\n')}\n---\n`;
}

const scalar = (value: Scalar): string => (typeof value === 'string' ? quoted(value) : String(value));

/** JSON's strings are YAML's, but for characters that YAML does not take as they are. */
function quoted(text: string): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
  return JSON.stringify(whole).replaceAll(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
