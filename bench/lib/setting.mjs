/** Everybody's terminal, ours and the peers'. */
export const size = { cols: 120, rows: 40 };
export const scrollback = 1000;
/** The whole environment of every program measured. */
export const env = { PATH: process.env.PATH, HOME: '/', LANG: 'C.UTF-8', TERM: 'xterm-256color', PS1: '$ ' };
