// The token is in the HTML and not here: another site may be able to run this
// script, but it can never read the HTML.
const page = document.getElementById('page');
// Requests go to the server of this page, whichever the contract names.
const thisServer = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (contract) => update({ ...contract, servers: [{ url: '/' }] }),
      },
    },
  },
});
const ui = SwaggerUIBundle({
  url: 'openapi.yaml',
  domNode: page,
  plugins: [thisServer],
  tryItOutEnabled: true,
  docExpansion: 'full',
  defaultModelsExpandDepth: 0,
  onComplete: () => {
    if (page.dataset.token) ui.preauthorizeApiKey('bearerAuth', page.dataset.token);
  },
});
