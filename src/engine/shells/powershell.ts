/** PowerShell, as far as we must speak it. Written from its documentation: no test here has one to run it in. */

/** The status of the command before, kept by `evaluated`: by its own exit code, else by whether it succeeded. */
const status = '$(if($__fl){0}elseif($LASTEXITCODE){$LASTEXITCODE}else{1})';

const escape = '$([char]27)';
const bell = '$([char]7)';

export const powershellMarkers = (token: string): { readonly begin: string; readonly end: string } => ({
  begin: `$__fl=$false;[Console]::Write("${escape}]7461;${token};s${bell}")`,
  end: `[Console]::Write("${escape}]7461;${token};e;${status}${bell}")`,
});

/** Whether it succeeded is asked within: afterwards it would be whether something was evaluated. */
export const evaluated = (text: string): string => `Invoke-Expression (${quoted(text)}+[char]10+'$__fl=$?')`;

/** Letters that cannot be typed are named by their numbers. Its parser takes curly quotes for straight ones. */
function quoted(text: string): string {
  const named = text
    .replace(/['\u2018-\u201b]/g, '$&$&')
    .replace(/\p{Cc}/gu, (letter) => `'+[char]${letter.charCodeAt(0)}+'`);
  return `'${named}'`;
}
