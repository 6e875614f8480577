class Configuration:
    ssl_ca_cert: str | None
    cert_file: str | None
    key_file: str | None
    tls_server_name: str | None
    proxy: str | None
    api_key: dict[str, str]
